"""Turns objects of the compiler into plain values.

Sizes, tensors, source lines. Compares no SymInt, since that would install a guard.
"""

import contextlib
import functools
import inspect
import linecache
import math
import re
import sys
import types
import weakref
from collections.abc import Iterator
from typing import Any

from inspect_compile.facts import Location, Tensor
from inspect_compile.probe import let_pass, uncounted_file
from inspect_compile.torch_compat import Frame

_FRAME = re.compile(r'^\s*File "(?P<file>.*?)", line (?P<line>\d+)(?:, in (?P<function>.*))?$')
_TORCH = re.compile(r"[/\\](?:site|dist)-packages[/\\]torch[/\\]")
OURS = ("inspect_compile",)
_OURS = re.compile(r"[/\\]inspect_compile[/\\]")
"""Modules whose frames may be between the compiler and the program while we watch."""


def size(value: Any) -> int | str:
    """A size or stride: an int, or its expression as text."""
    if type(value) is int:
        return value
    node = getattr(value, "node", None)
    if node is not None:
        return str(node.expr)
    return int(value) if getattr(value, "is_Integer", False) else str(value)


def hint(value: Any) -> int | None:
    """An int, or the hint of a SymInt; None if it has none."""
    if type(value) is int:
        return value
    node = getattr(value, "node", None)
    if node is None:
        return None
    try:
        found = node.hint
    except Exception as error:
        let_pass(error)
        return None  # unbacked: torch raises if there is no hint
    return found if type(found) is int else None


def hints(values: Any) -> tuple[int, ...] | None:
    """Hints of a shape, or None if any is missing."""
    found = [value if type(value) is int else hint(value) for value in values]
    return None if None in found else tuple([value for value in found if value is not None])


def tensor(value: Any) -> Tensor:
    """A (fake) tensor as plain values."""
    shape, dtype = value.shape, value.dtype
    strides = value.stride() if _text(value.layout) == "torch.strided" else ()
    if _NUMBER.issuperset(map(type, shape)) and _NUMBER.issuperset(map(type, strides)):
        return _plain(dtype, tuple(shape), tuple(strides), value.device)
    known = hints(shape)
    return Tensor(
        dtype=_text(dtype).removeprefix("torch."),
        size=tuple([size(length) for length in shape]),
        stride=tuple([size(step) for step in strides]),
        device=_text(value.device),
        bytes=None if known is None else math.prod(known) * dtype.itemsize,
    )


_NUMBER = frozenset({int})


@functools.lru_cache(maxsize=1024)
def _plain(dtype: Any, shape: tuple[int, ...], strides: tuple[int, ...], device: Any) -> Tensor:
    """A tensor without symbols; cached, as most in a graph are alike."""
    return Tensor(
        dtype=_text(dtype).removeprefix("torch."),
        size=shape,
        stride=strides,
        device=_text(device),
        bytes=math.prod(shape) * dtype.itemsize,
    )


_text = functools.lru_cache(maxsize=256)(str)
"""Texts of dtypes, layouts and devices, cached."""


def tensors(value: Any) -> Iterator[Any]:
    """The tensors in a value, in order."""
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        yield value
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from tensors(item)


def locations(stack_trace: str) -> tuple[Location, ...]:
    """The frames of a stack trace text, outermost first."""
    found: list[Location] = []
    lines = stack_trace.splitlines()
    for number, line in enumerate(lines):
        if match := _FRAME.match(line):
            code = lines[number + 1].strip() if number + 1 < len(lines) and not _FRAME.match(lines[number + 1]) else ""
            found.append(Location(match["file"], int(match["line"]), match["function"] or "", code))
    return tuple(found)


@functools.lru_cache(maxsize=1024)
def is_torch_file(file: str) -> bool:
    """True for a file of torch."""
    return _TORCH.search(file) is not None


def user_line(frames: tuple[Location, ...]) -> Location | None:
    """The innermost frame that is not torch's."""
    return next((frame for frame in reversed(frames) if not is_torch_file(frame.file)), frames[-1] if frames else None)


def frame_location(summary: Any) -> Location:
    """A traceback.FrameSummary as a location; its code is read from the file if possible."""
    return location(summary.filename, summary.lineno or 0, summary.name)


@functools.lru_cache(maxsize=1024)
def location(file: str, line: int, function: str) -> Location:
    """A location; cached, as thousands of guards share a few."""
    return Location(file, line, function, linecache.getline(file, line).strip())


def frames_of(*wanted: Frame, farthest: int | None = None) -> Iterator[dict[str, Any]]:
    """Of each running call of these functions above the one that asks, the nearest first: those variables that are set.

    `farthest` callers are looked at, or all. Whoever asks lets go of the variables.
    """
    frame = sys._getframe(1).f_back
    while frame is not None and (farthest is None or farthest > 0):
        for one in wanted:
            if is_frame(frame, one):
                local = frame.f_locals
                yield {name: local[name] for name in one.variables if name in local}
        frame = frame.f_back
        farthest = None if farthest is None else farthest - 1


def is_frame(frame: types.FrameType, wanted: Frame) -> bool:
    """Does it run that function of torch?"""
    code = frame.f_code
    return code.co_name == wanted.function and code.co_filename.replace("\\", "/").endswith(wanted.file)


def enclosed(function: Any, wanted: Frame) -> dict[str, Any]:
    """Of the variables that are wanted of torch's functions of that kind, those that the closure of this one holds."""
    found: dict[str, Any] = {}
    names = getattr(getattr(function, "__code__", None), "co_freevars", ())
    for name, cell in zip(names, getattr(function, "__closure__", None) or (), strict=False):
        if name in wanted.variables:
            with contextlib.suppress(ValueError):  # it is empty
                found[name] = cell.cell_contents
    return found


@functools.lru_cache(maxsize=512)
def is_kind(kind: Any, name: str) -> bool:
    """True if a torch class, or one of its base classes, is called `name`."""
    return any(base.__name__ == name for base in kind.__mro__)


def is_program(frame: types.FrameType) -> bool:
    """True if it runs a file of the program, or of a library of its, other than torch and this tool."""
    module = str(frame.f_globals.get("__name__", ""))
    return is_program_file(frame.f_code.co_filename) and module.split(".", 1)[0] not in OURS


def is_program_file(file: str) -> bool:
    """True for a file other than those of torch and this tool; false for code that has no file."""
    return not is_torch_file(file) and not _OURS.search(file) and not file.startswith("<")


def place(function: Any) -> str:
    """`name torch/_inductor/lowering.py:123` for a function, without decorators and partials."""
    if type(function) is not types.FunctionType:
        return _place(function)
    found = _PLACES.get(function)
    if found is None:
        found = _PLACES[function] = _place(function)
    return found


_PLACES: "weakref.WeakKeyDictionary[Any, str]" = weakref.WeakKeyDictionary()


def _place(function: Any) -> str:
    while hasattr(function, "func") and hasattr(function, "keywords"):
        function = function.func
    if function is None:
        return ""
    function = inspect.unwrap(function)
    code = getattr(function, "__code__", None)
    if code is None:
        return getattr(function, "__name__", str(function))
    file = code.co_filename.replace("\\", "/")
    return f"{code.co_qualname} {below_torch(file) or file}:{code.co_firstlineno}"


def is_hook(file: str) -> bool:
    """True for the file of frames that are hooks of ours in the place of torch's functions."""
    return file == uncounted_file()


def below_torch(file: str) -> str:
    """`torch/_inductor/graph.py` for a file of torch; empty for any other, hooks among them."""
    if is_hook(file):
        return ""
    _, found, below = file.replace("\\", "/").rpartition("/torch/")
    return f"torch/{below}" if found else ""


def line_text(where: Location | None) -> str | None:
    """`/home/me/net.py:4`, as remarks write it."""
    return None if where is None else f"{where.file}:{where.line}"
