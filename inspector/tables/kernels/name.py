"""What a kernel's name means: the kernel, its source, its launches and source lines."""

from collections.abc import Iterator
from typing import Final

from inspect_compile.analysis.lookup.named_kernel import NamedKernel, Resolved
from inspect_compile.tables.styled_text import Block, Stack, joined, styled
from inspect_compile.tables.text import lines_text, number_of, one_line, place_text

_MOST: Final = 12
_TOLD_BY: Final = {
    "launches": "To tell them apart: the order of their launches (attribute DUMP TRACE), or triton.unique_kernel_names",
    "calls": "the name does not identify the call that launched it; attribute DUMP TRACE does",
}


def named(found: list[Resolved], *, limit: int | None = _MOST) -> Block:
    """One block for each name."""
    return Stack([Stack(list(_block(row, limit)), gap=False) for row in found])


def _block(found: Resolved, limit: int | None) -> Iterator[Block]:
    kernels = found.kernels
    yield joined((one_line(found.asked), "strong"), "   ", one_line(found.how), _count(found))
    has_several = len({row.graph for row in kernels}) > 1
    for row in kernels if limit is None else kernels[:limit]:
        yield from _kernel(row, row.graph if has_several else "", is_one=len(kernels) == 1)
    if limit is not None and len(kernels) > limit:
        yield styled(f"  … {number_of(len(kernels) - limit, 'more kernel')}: --all", "dim")
    for remark in found.remarks:
        yield styled(f"  {one_line(remark)}", "dim")
    if found.told_by:
        yield styled(f"  {_TOLD_BY[found.told_by]}", "dim")


def _count(found: Resolved) -> tuple[str, str]:
    if len(found.kernels) < 2:
        is_possible = any(row.confidence == "possible" for row in found.kernels)
        return ("   Possible: one of its calls", "warn") if is_possible else ("", "")
    word = "Ambiguous" if found.kernels[0].confidence == "ambiguous" else "Possible"
    return f"   {word}: {len(found.kernels):,} kernels", "warn"


def _kernel(row: NamedKernel, graph: str, *, is_one: bool) -> Iterator[Block]:
    lines = " ".join(str(line) for line in row.launches)
    called = f"output_code.py:{lines}" if lines else "no call was seen"
    yield joined("  ", (one_line(row.kernel), "good"), "   ", row.kind, "   ", called, (f"   {one_line(graph)}", "dim"))
    if row.source and is_one:
        yield styled(f"      {one_line(row.source)}", "dim")
    for at in row.lines if is_one else row.lines[:2]:
        yield joined("      ", (place_text(at), "accent"), "  ", one_line(at.code), is_cut=True)
    if not is_one and len(row.lines) > 2:
        yield styled(f"      and {lines_text(row.lines[2:])}", "accent")
    if is_one and row.modules:
        yield styled(f"      in {one_line(' '.join(row.modules))}", "dim")
    if is_one and row.nodes:
        yield styled(f"      FX nodes {one_line(' '.join(row.nodes))}", "dim")
