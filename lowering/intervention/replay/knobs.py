"""Settings of torch._inductor.config given as `NAME=VALUE`, looked up and checked before they are set."""

import difflib
import types
import typing
from collections.abc import Mapping
from typing import Any, Final

from inspect_compile.lowering.intervention.replay.runnable import RefusedError
from inspect_compile.torch_compat.inductor import CONFIG

_PREFIXES: Final = ("torch._inductor.config.", "inductor.", "config.")
_MOST_NEAR: Final = 3


def checked(wanted: Mapping[str, Any]) -> dict[str, Any]:
    """The settings under their full names; raises RefusedError for an unknown name or an unusable value."""
    config = CONFIG.load()
    return {_known(config, name): _fitting(config, _known(config, name), value) for name, value in wanted.items()}


def _known(config: Any, name: str) -> str:
    names = config._config
    plain = name
    for prefix in _PREFIXES:
        plain = plain.removeprefix(prefix)
    if plain in names:
        return plain
    ends = [there for there in names if there.rpartition(".")[2] == plain]
    near = [*ends, *difflib.get_close_matches(plain, list(names), _MOST_NEAR)]
    near += [there for there in names if plain and plain in there]
    meant = ", ".join(list(dict.fromkeys(near))[:_MOST_NEAR])
    hint = f"is {meant} meant?" if meant else "torch/_inductor/config.py lists them"
    raise RefusedError(f"--config {name}: torch._inductor.config has no such setting; {hint}")


def _fitting(config: Any, name: str, value: Any) -> Any:
    now = getattr(config, name)
    wanted = config.get_type(name) if hasattr(config, "get_type") else type(now)
    if not _fits(value, wanted) and not (now is not None and type(value) is type(now)):
        raise RefusedError(
            f"--config {name}={value!r}: it takes {_words(wanted)}, and this is {_words(type(value))};"
            f" here it is {now!r}"
        )
    return value


def _fits(value: Any, wanted: Any) -> bool:
    """True if `value` is of the wanted type, or that type cannot be checked here."""
    origin, arguments = typing.get_origin(wanted), typing.get_args(wanted)
    if wanted is None or wanted is type(None):
        return value is None
    if origin in (typing.Union, types.UnionType):
        return any(_fits(value, one) for one in arguments)
    if origin is typing.Literal:
        return value in arguments
    plain = origin or wanted
    if not isinstance(plain, type):
        return True
    if plain is float:
        return type(value) in (int, float)
    if plain is int:
        return type(value) is int
    return isinstance(value, plain)


def _words(wanted: Any) -> str:
    origin, arguments = typing.get_origin(wanted), typing.get_args(wanted)
    if wanted is None or wanted is type(None):
        return "None"
    if origin in (typing.Union, types.UnionType):
        return " or ".join(_words(one) for one in arguments)
    if origin is typing.Literal:
        return " or ".join(map(repr, arguments))
    return {bool: "True or False", int: "a whole number", float: "a number", str: "a text"}.get(
        wanted, getattr(wanted, "__name__", str(wanted))
    )
