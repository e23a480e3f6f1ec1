"""A graph of a log compiled again: for which GPU, and how far what comes of it is what the log has."""

import difflib
import re
from typing import Final, NamedTuple

from inspect_compile.dump import paths
from inspect_compile.facts import WrapperLine
from inspect_compile.graph import CompiledGraph
from inspect_compile.knowledge.targets.targets import TARGETS

_CAPABILITY: Final = re.compile(r"DeviceProperties\(type='(cuda|hip)'[^)]{0,200}\bcc='?(gfx\w{1,8}|\d{2,3})")
"""What the code of a Triton kernel says of its GPU."""


def architecture(graph: CompiledGraph) -> str | None:
    """The GPU that the graph's generated code is for, if `--target` knows it; None for a CPU, or if it does not say."""
    for ending in ("py", "cpp"):
        found = _CAPABILITY.search(graph.dump.text(graph.name, f"{paths.OUTPUT_CODE}.{ending}") or "")
        if found is not None:
            name = found[2] if found[1] == "hip" else f"sm_{found[2]}"
            return name if name in TARGETS else None
    return None


class Agreement(NamedTuple):
    """The calls of kernels and library functions in the generated code, of the log and of the second compile."""

    recorded: int
    again: int
    same_kind: int
    """Calls of the log that have one of their kind in the second compile, in the same order: `triton_poi`, `mm`."""
    same_name: int
    """The same with their whole name, but for its number."""


_CALLS: Final = ("launch", "extern")
_NUMBER: Final = re.compile(r"_\d{1,9}$")
_KIND: Final = re.compile(r"(?:triton|cpp)_[a-z]{1,20}")


def agreement(recorded: CompiledGraph, again: CompiledGraph) -> Agreement | None:
    """How far the calls agree; None if the log has no code of the graph that could be read."""
    before, after = (
        [row.kernel.rpartition(".")[2] for row in graph.rows(WrapperLine) if row.kernel and row.what in _CALLS]
        for graph in (recorded, again)
    )
    if not before:
        return None
    kinds = [[found[0] if (found := _KIND.match(name)) else name for name in names] for names in (before, after)]
    names = [[_NUMBER.sub("", name) for name in names] for names in (before, after)]
    return Agreement(len(before), len(after), _common(*kinds), _common(*names))


def _common(before: list[str], after: list[str]) -> int:
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    return sum(block.size for block in matcher.get_matching_blocks())


def agreement_text(found: Agreement | None) -> str:
    """`5 calls, as in the log, 4 of the same name`."""
    if found is None:
        return "the log has no code to compare it with"
    calls = f"{found.again:,} call{'s' * (found.again != 1)}"
    if found.same_kind == found.recorded == found.again:
        named = "" if found.same_name == found.recorded else f", {found.same_name:,} of them of the same name"
        return f"{calls}, as in the log{named}"
    return f"{calls}, {found.same_kind:,} of the log's {found.recorded:,} among them in the same order"
