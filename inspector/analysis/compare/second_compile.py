"""A graph of a log beside its second compile: how far what came of it is what the log has."""

import difflib
import re
from typing import Final

import msgspec

from inspect_compile.analysis.kernels.recorded_kernels import kernels_joined
from inspect_compile.dump import paths
from inspect_compile.facts import WrapperLine
from inspect_compile.graph import CompiledGraph


class Calls(msgspec.Struct, frozen=True):
    """The calls of kernels and library functions in the generated code, of the log and of the second compile."""

    recorded: int
    again: int
    same_kind: int
    """Calls of the log that have one of their kind in the second compile, in the same order: `triton_poi`, `mm`."""
    same_name: int
    """The same with their whole name, but for its number."""


class SameKernels(msgspec.Struct, frozen=True):
    """The kernels that torch generated for the log, and what became of them."""

    generated: int
    """Of which the log has the source."""
    grouped: int
    """Of which it says what they compute: which nodes were fused."""
    equal: int
    """Those that came out again, equal but for their names."""
    same_group: int
    """Those that compute the same nodes again."""
    both: int
    """Kernels and library functions that are in both."""
    in_order: int
    """Those of them that are called in the same order."""


class Agreement(msgspec.Struct, frozen=True):
    """What both compiles say."""

    calls: Calls | None
    """None if the log has no code of the graph that could be read."""
    kernels: SameKernels
    recorded_torch: str
    """The version that wrote the log; empty if it does not say."""
    torch: str
    """The version that compiled again."""


_CALLS: Final = ("launch", "extern")
_NUMBER: Final = re.compile(r"_\d{1,9}$")
_KIND: Final = re.compile(r"(?:triton|cpp)_[a-z]{1,20}")
_OF_C: Final = re.compile(r"aoti_torch_(?:cpu|cuda|xpu|mps)_{1,2}(\w+?)(?:_out)?")
_VERSION: Final = re.compile(r"^# torch version: ([\w.+]{1,60})[^\S\n]*$", re.MULTILINE)


def agreement(recorded: CompiledGraph, again: CompiledGraph) -> Agreement:
    """How far the two compiles of a graph agree."""
    joined = kernels_joined(recorded, again)
    return Agreement(
        _calls(recorded, again),
        SameKernels(
            joined.generated, joined.grouped, joined.equal, joined.same_group, len(joined.same), joined.in_order
        ),
        torch_of(recorded),
        again.dump.run.versions.get("torch", ""),
    )


def torch_of(graph: CompiledGraph) -> str:
    """The version of torch that compiled it: as its log says, else as the text of the graph does."""
    said = graph.dump.run.versions.get("torch", "")
    found = None if said else _VERSION.search(graph.text(paths.FX_RUNNABLE) or "")
    return found[1] if found is not None else said


def _calls(recorded: CompiledGraph, again: CompiledGraph) -> Calls | None:
    before, after = (
        [_called(row.kernel) for row in graph.rows(WrapperLine) if row.kernel and row.what in _CALLS]
        for graph in (recorded, again)
    )
    if not before:
        return None
    kinds = [[found[0] if (found := _KIND.match(name)) else name for name in names] for names in (before, after)]
    names = [[_NUMBER.sub("", name) for name in names] for names in (before, after)]
    return Calls(len(before), len(after), _common(*kinds), _common(*names))


def _called(name: str) -> str:
    """`mm` of `extern_kernels.mm`, and of what C++ calls the same, `aoti_torch_cuda_mm_out`."""
    own = name.rpartition(".")[2]
    found = _OF_C.fullmatch(own)
    return found[1] if found is not None else own


def _common(before: list[str], after: list[str]) -> int:
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    return sum(block.size for block in matcher.get_matching_blocks())
