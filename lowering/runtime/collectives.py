"""The collectives that a process called, read from torch's flight recorder when the process ends.

torch keeps the last ones anyway, with sizes and Python frames, for debugging ranks that hang. Reading it changes
nothing, calls none of the program's code, and takes some milliseconds.
"""

import itertools
import math
import pickle
import re
import sys
import traceback
from collections.abc import Mapping, Sequence
from typing import Any, Final

from inspect_compile.facts import Collective, Location
from inspect_compile.lowering.core import values
from inspect_compile.lowering.core.scopes import torch_object
from inspect_compile.torch_compat import runtime as names
from inspect_compile.torch_compat.frames import RUNS_BACKWARD

_BYTES: Final = {
    **dict.fromkeys(("Byte", "Char", "Bool", "QInt8", "QUInt8"), 1),
    **dict.fromkeys(("Short", "Half", "BFloat16", "UInt16"), 2),
    **dict.fromkeys(("Int", "Float", "UInt32"), 4),
    **dict.fromkeys(("Long", "Double", "ComplexFloat", "UInt64"), 8),
    "ComplexDouble": 16,
}
_BASE = re.compile(r"^_(\w+)_base$")

_COMPILED = re.compile(r"[/\\]torch[/\\]_inductor[/\\]output_code\.py$")
_DDP = re.compile(r"[/\\]torch[/\\]nn[/\\]parallel[/\\]distributed\.py$")
_FSDP2 = re.compile(r"[/\\]torch[/\\]distributed[/\\]fsdp[/\\]_fully_shard[/\\]")
_FSDP = re.compile(r"[/\\]torch[/\\]distributed[/\\]fsdp[/\\]")
_HOOKS: Final = frozenset({"pre_forward", "post_forward", "pre_backward", "post_backward"})
_AUTOGRAD: Final = "pt_autograd"
"""Prefix of the names of autograd's threads."""

Frame = tuple[str, str, int]
"""Function, file, line."""


def recorded() -> list[Collective]:
    """All collectives that torch still has; each place and kind of call once, in the order of their first calls."""
    ask = torch_object(names.FLIGHT_RECORDER)
    module: Any = sys.modules.get(names.FLIGHT_RECORDER.module)
    found: list[Collective] = []
    for one in (ask, getattr(module, names.OF_NCCL, None)):
        if one is not None:
            found += summed(pickle.loads(one(True, True, False)).get("entries", ()))
    return found


def summed(entries: Sequence[Mapping[str, Any]]) -> list[Collective]:
    """The entries of one flight recorder as facts."""
    if not entries:
        return []
    before = min(int(entry.get("record_id", 0)) for entry in entries)
    frames = [map(_frame, entry.get("frames", ())) for entry in entries]
    stacks = [[one for one in stack if not values.is_hook(one[1])] for stack in frames]
    has_ddp = any(_DDP.search(file) for stack in stacks for _, file, _ in stack)
    sums: dict[tuple[Any, ...], list[int]] = {}
    for entry, stack in zip(entries, stacks, strict=True):
        backend, _, op = str(entry.get("profiling_name", "")).rpartition(":")
        by, hook = _caller(stack, str(entry.get("thread_name", "")), has_ddp=has_ddp)
        kinds = tuple(dict.fromkeys((*entry.get("input_dtypes", ()), *entry.get("output_dtypes", ()))))
        group = entry.get("process_group") or ("", "")
        key = (_BASE.sub(r"\1", op), backend, str(group[-1]), "_".join(kinds).lower(), by, hook, _place(stack))
        row = sums.setdefault(key, [0, 0])
        row[0] += 1
        row[1] += max(_bytes(entry, "input"), _bytes(entry, "output"))
    return [
        Collective(
            op=op,
            backend=backend,
            group=group,
            dtype=dtype,
            by=by,
            hook=hook,
            count=count,
            bytes=size,
            where=None if place is None else _location(*place),
            before=before,
        )
        for (op, backend, group, dtype, by, hook, place), (count, size) in sums.items()
    ]


def _frame(frame: Mapping[str, Any]) -> Frame:
    return str(frame.get("name", "")), str(frame.get("filename", "")), int(frame.get("line", 0))


def _caller(stack: list[Frame], thread: str, *, has_ddp: bool) -> tuple[str, str]:
    """Who called the collective, and from which of its functions; the first frame is the innermost."""
    for name, file, _ in stack:
        if _COMPILED.search(file):
            return "compiled graph", ""
        if _FSDP.search(file):
            hooks = [own for own, other, _ in stack if own in _HOOKS and _FSDP.search(other)]
            return ("FSDP2" if _FSDP2.search(file) else "FSDP"), (hooks[0] if hooks else name)
        if _DDP.search(file):
            return "DistributedDataParallel", name
    is_engine = stack[0][0] == RUNS_BACKWARD.function if stack else thread.startswith(_AUTOGRAD)
    if is_engine and has_ddp:
        return "DistributedDataParallel", "reducer"
    if not stack or is_engine:
        return "unknown", ""
    outside = next((name for name, file, _ in stack if not values.is_torch_file(file)), None)
    of_torch = itertools.takewhile(lambda frame: values.is_torch_file(frame[1]), stack)
    own = [name for name, file, _ in of_torch if "c10d_logger" not in file]
    return ("program" if outside is not None else "torch"), (own[-1] if own else "")


def _place(stack: list[Frame]) -> Frame | None:
    """The program's innermost frame; generated code of a compiled graph does not count."""
    called = next((index for index, (_, file, _) in enumerate(stack) if _COMPILED.search(file)), 0)
    return next(
        (frame for frame in stack[called:] if not values.is_torch_file(frame[1]) and not _is_ours(frame[1])), None
    )


def _is_ours(file: str) -> bool:
    """True for a frame of Python's library or of inspect-compile."""
    return file.startswith("<frozen") or any(f"{own}/" in file.replace("\\", "/") for own in values.OURS)


def _location(name: str, file: str, line: int) -> Location:
    return values.frame_location(traceback.FrameSummary(file, line, name, lookup_line=False))


def _bytes(entry: Mapping[str, Any], side: str) -> int:
    sizes, kinds = entry.get(f"{side}_sizes", ()), entry.get(f"{side}_dtypes", ())
    pairs = zip(sizes, (*kinds, *[kinds[-1]] * len(sizes)) if kinds else (), strict=False)
    return sum(math.prod(size) * _BYTES.get(kind, 1 if kind.startswith("Float8") else 4) for size, kind in pairs)
