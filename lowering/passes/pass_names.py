"""Names of patterns, and of passes that match patterns."""

import inspect
import sys
import weakref
from collections.abc import Iterator
from typing import Any, Final

from inspect_compile.lowering.core.values import enclosed, place
from inspect_compile.torch_compat.frames import CHECKS_MATCH

_PASSES: Final = "torch._inductor.fx_passes."
_MATCHERS: "weakref.WeakKeyDictionary[Any, str]" = weakref.WeakKeyDictionary()
_HOLDS: Final = (list, dict)
_SEARCHED: Final[dict[str, int]] = {}
"""Module → number of objects that its variables held when they were searched."""
_COLLECTIONS: Final[dict[str, list[str]]] = {}
"""Module → its variables that were lists or dicts."""


def matcher_name(matcher: Any) -> str:
    """torch's name of a PatternMatcherPass, else the variable that holds it, `joint_graph.early_patterns`."""
    if matcher.pass_name:
        return str(matcher.pass_name)
    if matcher not in _MATCHERS:
        _MATCHERS.update(_variables(type(matcher)))
        _MATCHERS.setdefault(matcher, "pattern_matcher")
    return _MATCHERS[matcher]


def _variables(kind: Any) -> Iterator[tuple[Any, str]]:
    """Objects of a class held by variables in torch's modules of passes, also in a list or dict, with their names.

    Each module is searched once, and again when it holds more.
    """
    for module_name in [name for name in tuple(sys.modules) if name.startswith(_PASSES)]:
        variables = vars(sys.modules[module_name])
        collections = _COLLECTIONS.get(module_name)
        if collections is not None and _extent(variables, collections) == _SEARCHED.get(module_name):
            continue
        held_by = dict(variables)
        collections = _COLLECTIONS[module_name] = [name for name, value in held_by.items() if type(value) in _HOLDS]
        _SEARCHED[module_name] = _extent(held_by, collections)
        short = module_name.removeprefix(_PASSES)
        for name, value in held_by.items():
            held = type(value)
            if held is kind:
                yield value, f"{short}.{name}"
            elif held in _HOLDS and kind in map(type, value if held is list else value.values()):
                items = enumerate(value) if held is list else value.items()
                yield from ((item, f"{short}.{name}[{key!r}]") for key, item in items if type(item) is kind)


def _extent(variables: dict[str, Any], collections: list[str]) -> int:
    """Number of variables, and of objects in those that are lists or dicts."""
    held: list[Any] = [variables.get(name) for name in collections]
    return len(variables) + sum(len(value) for value in held if type(value) in _HOLDS)


def pattern_name(entry: Any) -> tuple[str, str]:
    """Name of a pattern, and where it is defined."""
    handler = getattr(entry, "handler", None)
    if handler is not None:
        return str(getattr(inspect.unwrap(handler), "__name__", "?")), place(handler)
    search = _search(entry)
    name = getattr(entry, "pattern_name", None) or getattr(search, "__name__", None)
    return str(name or type(entry.pattern).__name__), place(search)


def _search(entry: Any) -> Any:
    """The function that the pattern was traced from; only a closure of the entry's check has it."""
    return enclosed(inspect.unwrap(entry.extra_check), CHECKS_MATCH).get(*CHECKS_MATCH.variables)
