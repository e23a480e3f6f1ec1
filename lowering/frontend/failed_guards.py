"""Parses torch's reasons for a recompile: what a guard relied on, and the value that failed it."""

import re
import sys
import types
import weakref
from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from inspect_compile.facts import FailedGuard
from inspect_compile.lowering.core import values
from inspect_compile.lowering.core.compile_names import NAMES
from inspect_compile.lowering.core.program_values import UNKNOWN, found, is_tensor, shown, sizes_in

_LONGEST: Final = 500
_EARLIER = re.compile(r"^(?P<compile_id>!?\[?\d+(?:/\d+)?(?:_\d+)?\]?): ")
_HINT = re.compile(r"\(HINT: ((?:(?!\(HINT: ).)*)\)\s*$")
_TENSOR = re.compile(
    r"^tensor '(?P<source>.*)' (?P<what>[\w ]+?) mismatch(?: at index (?P<index>\d+))?\. "
    r"expected (?P<before>.+?)(?:, actual (?P<after>.+))?$"
)
_DTYPES: Final = {"Float": "float32", "Double": "float64", "Half": "float16", "Long": "int64", "Int": "int32"}
"""Names of C++ types that torch uses here; all others are the same in lower case."""
_TYPE = re.compile(r"^___check_type_id\((?P<source>.+), \d+\)(?:, type=(?P<type>.*))?$")
_OBJECT = re.compile(r"^___check_obj_id\((?P<source>.+), \d+\)(?:, type=(?P<type>.*))?$")
_EQUALS = re.compile(r"^(?P<source>[^=<>!]+) == (?P<before>.+)$")
_NO_TENSOR = re.compile(
    r"^expected type of '(?P<source>.+)' to be (?:a tensor type, '|<class 'torch\.Tensor'>,) but found "
    r"<class '(?P<after>[^']+)'>$"
)
_GONE = re.compile(
    r"^(?:\w+Error on|getattr failed on source|(?:\w+: )?Not an? [a-z]+(?: obj)?(?: on)?) (?P<source>[A-Za-z_].*)$"
)
"""A guard on something in `source`, or on `source` itself, found none there."""
_FREED = re.compile(r"^Cache line invalidated because (?P<source>.+) got deallocated$")
_ATTRIBUTE = re.compile(r"^(?P<of>.+)\.[A-Za-z_]\w*$")
_ROOT = re.compile(r"^[A-Za-z_]\w*(?=[.\[])")
_CONTAINERS: Final = (list, tuple, dict, set, types.FunctionType, types.CellType)
_GLOBAL = re.compile(r"^GLOBAL_STATE changed: (?P<what>.*)$")
_STATES: Final[dict[str, Callable[[Any], Any]]] = {
    "grad_mode": lambda torch: torch.is_grad_enabled(),
    "default_dtype": lambda torch: torch.get_default_dtype(),
    "num_threads": lambda torch: torch.get_num_threads(),
    "deterministic_algorithms": lambda torch: torch.are_deterministic_algorithms_enabled(),
}


class _Changed(NamedTuple):
    what: str
    source: str
    before: str
    after: str


class Objects:
    """Which objects the arguments of a compile were, by weak references without a callback."""

    def __init__(self) -> None:
        self._of: dict[str, dict[str, weakref.ref[Any]]] = {}

    @staticmethod
    def of(local: Mapping[str, Any]) -> dict[str, weakref.ref[Any]]:
        """References to a frame's arguments that are objects of classes."""
        return {
            name: weakref.ref(value)
            for name, value in local.items()
            if type(value).__module__ != "builtins" and type(value).__weakrefoffset__ and not is_tensor(value)
        }

    def compiling(self, compile_id: str, found: dict[str, weakref.ref[Any]]) -> None:
        """A frame with these arguments is being compiled."""
        self._of[compile_id] = found

    def is_another(self, compile_id: str, name: str, value: Any) -> bool:
        """Is `value` known to be another object than `name` was in that compile?"""
        before = self._of.get(compile_id, {}).get(name)
        return before is not None and before() is not value


def failed_guards(
    reasons: tuple[str, ...], local: Mapping[str, Any], everywhere: Mapping[str, Any], known: Objects
) -> tuple[FailedGuard, ...]:
    """One record for each reason. `local` and `everywhere` are the frame's locals and globals, from which plain values
    are read; `known` has the objects of earlier compiles.
    """
    return tuple(_failed(reason, local, everywhere, known) for reason in reasons)


def _failed(reason: str, local: Mapping[str, Any], everywhere: Mapping[str, Any], known: Objects) -> FailedGuard:
    head, _, stack = reason.partition("\nUser stack trace:")
    earlier = _EARLIER.match(head)
    text = head[earlier.end() :] if earlier else head
    condition = text.partition("  # ")[0].strip()
    changed = _changed(condition, local, everywhere)
    hint = _HINT.search(text)
    value = found(changed.source, local, everywhere) if changed.source else UNKNOWN
    compile_id = NAMES.latest(earlier["compile_id"].strip("![]")) if earlier else ""
    holder, root = _holder(changed.source, local, everywhere), _ROOT.match(changed.source)
    is_object = holder is not UNKNOWN and not is_tensor(holder) and type(holder) not in _CONTAINERS
    return FailedGuard(
        compile_id=compile_id,
        condition=condition[:_LONGEST],
        what=changed.what,
        before=changed.before[:_LONGEST],
        after=changed.after[:_LONGEST],
        source=changed.source,
        value=shown(value),
        where=values.user_line(values.locations(stack)),
        hint=hint[1] if hint else "",
        holder=type(holder).__qualname__ if is_object else "",
        is_of_module=is_object and issubclass(type(holder), sys.modules["torch"].nn.Module),
        is_of_another=root is not None and known.is_another(compile_id, root[0], local.get(root[0])),
    )


def _holder(source: str, local: Mapping[str, Any], everywhere: Mapping[str, Any]) -> Any:
    """The object whose attribute `source` is; UNKNOWN for anything else."""
    match = _ATTRIBUTE.match(source)
    return UNKNOWN if match is None else found(match["of"], local, everywhere)


def _changed(condition: str, local: Mapping[str, Any], everywhere: Mapping[str, Any]) -> _Changed:
    if match := _TENSOR.match(condition):
        return _of_tensor(match)
    if match := _TYPE.match(condition):
        value = found(match["source"], local, everywhere)
        after = "" if value is UNKNOWN else type(value).__qualname__
        return _Changed(f"type of {match['source']}", match["source"], _class(match["type"]), after)
    if match := _OBJECT.match(condition):
        after = shown(found(match["source"], local, everywhere))
        before = f"another {_class(match['type'])}".rstrip()
        return _Changed(match["source"], match["source"], before, after)
    if match := _EQUALS.match(condition):
        source = match["source"].strip()
        return _Changed(source, source, match["before"], shown(found(source, local, everywhere)))
    if match := _NO_TENSOR.match(condition):
        return _Changed(f"type of {match['source']}", match["source"], "Tensor", match["after"])
    if match := _GONE.match(condition):
        return _Changed(match["source"], match["source"], "there", "not there")
    if match := _FREED.match(condition):
        source = re.sub(r"\bL\['(\w+)'\]", r"\1", match["source"])
        return _Changed(source, source, "", "")
    if match := _GLOBAL.match(condition):
        return _of_torch(match["what"].strip())
    if condition.startswith("Duplicate tensors found"):
        return _Changed("which arguments are one tensor", "", "all different", condition.partition(": ")[2])
    if condition.startswith("BACKEND_MATCH"):
        return _Changed("backend", "", "", "")
    try:
        return _Changed("", "", "", sizes_in(condition, local, everywhere))
    except SyntaxError:
        return _Changed("", "", "", "")


def _of_tensor(match: re.Match[str]) -> _Changed:
    source, what, before, after = match["source"], match["what"], match["before"], match["after"] or ""
    if what == "dtype":
        before, after = (_DTYPES.get(name, name.lower()) for name in (before, after))
    elif what == "requires_grad":
        before = str(before.endswith("=1"))
        after = str(before != "True")
    what_changed = f"{what} of {source}" + (f" in dimension {match['index']}" if match["index"] is not None else "")
    return _Changed(what_changed, source, before, after)


def _of_torch(what: str) -> _Changed:
    """For a guard on torch's state: the switch's value now, and so its former value."""
    asked = _STATES.get(what)
    now = "" if asked is None else str(asked(sys.modules["torch"]))
    return _Changed(what, "", {"True": "False", "False": "True"}.get(now, ""), now)


def _class(text: str | None) -> str:
    """`int` for `<class 'int'>`."""
    return (text or "").removeprefix("<class '").removesuffix("'>")
