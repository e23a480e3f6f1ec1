"""What to do about one value that made Dynamo compile again: one of few kinds, each true for its cause."""

import re
from pathlib import Path
from typing import Final

from inspect_compile.analysis.frontend.frames import plain_source
from inspect_compile.facts import FailedGuard, Location
from inspect_compile.knowledge.frontend.own_code import own_line
from inspect_compile.knowledge.overview.findings import (
    RECOMPILE,
    RECOMPILE_ALIAS,
    RECOMPILE_BACKEND,
    RECOMPILE_BOOL,
    RECOMPILE_CONDITION,
    RECOMPILE_CONSTANT,
    RECOMPILE_CONVERT,
    RECOMPILE_FIXED,
    RECOMPILE_FUNCTION,
    RECOMPILE_GLOBAL,
    RECOMPILE_GRADIENT,
    RECOMPILE_IDENTITY,
    RECOMPILE_INDEX,
    RECOMPILE_INSTANCE,
    RECOMPILE_KEYS,
    RECOMPILE_LENGTH,
    RECOMPILE_MODE,
    RECOMPILE_MODULE,
    RECOMPILE_NONE,
    RECOMPILE_NUMBER,
    RECOMPILE_ONE,
    RECOMPILE_STATE,
    RECOMPILE_STATIC,
    RECOMPILE_STRIDE,
    RECOMPILE_TRAINING,
    RECOMPILE_TYPE,
    RECOMPILE_UNKNOWN,
    RECOMPILE_VALUE,
    WORDS,
)

BACKEND: Final = "backend"
"""What has changed, where it is the backend."""
FREED: Final = "Cache line invalidated"
"""Beginning of torch's words, where a guarded object was freed."""
_FRACTION: Final = re.compile(r"-?(?:\d+\.\d+(?:e[-+]?\d+)?|\d+e[-+]?\d+|inf|nan)")
"""A float of Python's, as `repr` writes it."""
_INTEGER: Final = re.compile(r"-?\d+")
_BOOLS: Final = ("True", "False")
_SIZE: Final = re.compile(r"^size of (?P<tensor>.+) in dimension (?P<dimension>\d+)$")
_TENSOR: Final = re.compile(r"^\w+ of (?P<tensor>.+?)(?: in dimension \d+)?$")
_STRIDE: Final = "stride of "
_OF_SIZE: Final = re.compile(r"\.(?:size|stride)\(\)\[")
_NONE: Final = re.compile(r"^(?P<name>.+) is (?:not )?None$")
_KEYS: Final = ("list(dict.keys(", "dict.keys(", "___dict_contains(", "not ___dict_contains(")
_COMPARED: Final = re.compile(r" [<>!=]=? ")
_OPTIMIZER_STATE: Final = "self.state["
"""In a condition: what an optimizer of torch's keeps for each parameter."""
_OPTIMIZERS: Final = re.compile(r"(?:^|[/\\])torch[/\\]optim[/\\][\w.]+$")
_ITEM: Final = ".item()"
_LENGTH: Final = "len("
_GLOBAL: Final = "G["
_EMPTY: Final = "not "
"""Beginning of the condition that a list, dict or set is empty."""
_ANOTHER: Final = "another "
"""Beginning of the value before, where the guard compares objects."""
_FUNCTIONS: Final = ("builtin_function_or_method", "function", "code", "method", "type", "method_descriptor")
_APART: Final = ("0", "1")
"""Sizes that torch compiles apart from all others."""
_STATES: Final = ("grad_mode", "default_dtype", "num_threads", "deterministic_algorithms", "autocast_mode")


def advice(
    failed: FailedGuard,
    where: Location | None,
    *,
    times: int,
    file: str,
    dynamic: str = "",
    fixed: Location | None = None,
) -> str:
    """What to do about a value that has changed `times` times, in words.

    `where` is the line that relies on it; `dynamic` and `file` are those of the compiled function; `fixed` is the line
    that made a number of a size that was symbolic.
    """
    found = WORDS[_kind(failed, times=times, file=file, dynamic=dynamic, fixed=fixed)].to_do
    size, tensor = _SIZE.match(failed.what), _TENSOR.match(failed.what)
    line = fixed or where
    line = None if line is None else own_line(line) or line
    return found.format(
        name=plain_source(failed.source).removesuffix(_ITEM) or _named(failed),
        tensor=plain_source(tensor["tensor"]) if tensor else "",
        dimension=size["dimension"] if size else "",
        holder=failed.holder or "object",
        what=failed.what,
        line=f"{Path(line.file).name}:{line.line}" if line is not None else "an unknown line",
    )


def is_number(text: str) -> bool:
    """Is it an int or a float as Python writes it?"""
    return (_INTEGER.fullmatch(text) or _FRACTION.fullmatch(text)) is not None


def _named(failed: FailedGuard) -> str:
    match = _NONE.match(failed.condition)
    return match["name"] if match else failed.what or failed.condition


def _kind(failed: FailedGuard, *, times: int, file: str, dynamic: str, fixed: Location | None) -> str:
    """The key of the WORDS."""
    if _OPTIMIZER_STATE in failed.condition and _OPTIMIZERS.search(file):
        return RECOMPILE_STATE
    of_tensor = _of_tensor(failed, dynamic=dynamic, fixed=fixed)
    if of_tensor:
        return of_tensor
    if failed.what in _STATES:
        return RECOMPILE_MODE
    if failed.what == BACKEND:
        return RECOMPILE_BACKEND
    if failed.what.startswith("which arguments"):
        return RECOMPILE_ALIAS
    if failed.what.startswith(_KEYS) or failed.condition.startswith(_KEYS):
        return RECOMPILE_KEYS
    if failed.what.startswith(_LENGTH) or (not failed.what and failed.condition.startswith(_EMPTY)):
        return RECOMPILE_LENGTH
    if _NONE.match(failed.condition) or "None" in (failed.before, failed.after):
        return RECOMPILE_NONE
    if _OF_SIZE.search(failed.what or failed.condition) or (not failed.what and _COMPARED.search(failed.condition)):
        return RECOMPILE_CONDITION
    return _of_value(failed, times=times, dynamic=dynamic, fixed=fixed) if failed.what else RECOMPILE_UNKNOWN


def _of_tensor(failed: FailedGuard, *, dynamic: str, fixed: Location | None) -> str:
    if _SIZE.match(failed.what):
        if dynamic == "False":
            return RECOMPILE_STATIC
        if not set(_APART).isdisjoint((failed.before, failed.after)):
            return RECOMPILE_ONE
        return RECOMPILE if fixed is None else RECOMPILE_FIXED
    if failed.what.startswith(_STRIDE):
        return RECOMPILE_STRIDE
    if failed.what.startswith("requires_grad of "):
        return RECOMPILE_GRADIENT
    return RECOMPILE_CONVERT if failed.what.startswith(("dtype of ", "rank of ", "device of ")) else ""


def _of_value(failed: FailedGuard, *, times: int, dynamic: str, fixed: Location | None) -> str:
    values = (failed.before, failed.after)
    if failed.source.endswith(_ITEM):
        return RECOMPILE_INDEX
    if failed.before.startswith(_ANOTHER) or failed.condition.startswith(FREED):
        return _of_object(failed)
    if failed.what.startswith("type of ") or (failed.after and _type(failed.before) != _type(failed.after)):
        return RECOMPILE_TYPE
    if all(map(is_number, values)):
        is_whole = all(map(_INTEGER.fullmatch, values))
        if failed.what.startswith(_GLOBAL):
            return RECOMPILE_GLOBAL
        if failed.is_of_module and is_whole:
            return RECOMPILE_INSTANCE if failed.is_of_another else RECOMPILE_MODULE
        if dynamic == "False":
            return RECOMPILE_STATIC
        return RECOMPILE_NUMBER if times == 1 and not dynamic and fixed is None else RECOMPILE_CONSTANT
    if failed.what.endswith(".training"):
        return RECOMPILE_TRAINING
    if set(values) == set(_BOOLS):
        return RECOMPILE_BOOL
    return RECOMPILE_INSTANCE if failed.is_of_another else RECOMPILE_VALUE


def _of_object(failed: FailedGuard) -> str:
    kind = failed.before.removeprefix(_ANOTHER)
    if kind in _FUNCTIONS:
        return RECOMPILE_FUNCTION
    if failed.after.startswith(f"{kind.rpartition('.')[2]}."):
        return RECOMPILE_VALUE  # a member of an enum
    return RECOMPILE_INSTANCE if failed.is_of_another else RECOMPILE_IDENTITY


def _type(text: str) -> str:
    """The type of a plain value as Python writes it; empty for other values, and where it is not known."""
    if text in _BOOLS:
        return "bool"
    if is_number(text):
        return "int" if _INTEGER.fullmatch(text) else "float"
    return "str" if text[:1] in "'\"" and text else ""
