"""How a kernel iterates over its elements, in sentences: its axes or loops, and why those."""

from collections.abc import Iterator

from inspect_compile.analysis.kernels.tiling import Shape, persistent_limit, reduced
from inspect_compile.analysis.kernels.triton_heuristics import Heuristics
from inspect_compile.facts import Kernel, Loop, LoopNest, Tiling
from inspect_compile.tables.text import byte_text, number_of, one_line

_MOST = 6
_HINTS = {
    "INNER": "along the contiguous axis",
    "OUTER": "across the contiguous axis",
    "OUTER_TINY": "across the contiguous axis, of few elements",
    "DEFAULT": "neither along nor across the contiguous axis",
}


def tiling_lines(kernel: Kernel, found: Shape) -> Iterator[str]:
    """Sentences about the shape of one kernel."""
    for row in found.tilings[:_MOST]:
        part = "" if row.part is None else f"part {row.part}: "
        yield one_line(f"{part}{_axes(row, found.written)}")
        if row.persistent is not None:
            yield one_line(f"{part}{_reduction(row)}")
    if len(found.tilings) > _MOST:
        yield f"… {len(found.tilings) - _MOST:,} more parts"
    if not found.tilings and kernel.numel:
        yield one_line(f"axes {' × '.join(kernel.numel)}")
    if found.written is not None:
        yield one_line(_written(found.written))
    for nest in found.nests[:_MOST]:
        yield one_line(_nest(nest))
    if len(found.nests) > _MOST:
        yield f"… {len(found.nests) - _MOST:,} more loop nests"
    if kernel.inplace:
        yield one_line(f"in place: {' '.join(kernel.inplace)}")
    if kernel.removed:
        yield one_line(f"never stored: {' '.join(kernel.removed)}")


def _axes(row: Tiling, written: Heuristics | None) -> str:
    axes = " × ".join(f"{axis} {length}" for axis, length in row.sizes.items() if axis[:1] != "r" or length != "1")
    text = f"axes {axes or 'none'}"
    if row.by == "coalescing" and row.scores:
        best = max(row.scores, key=lambda axis: row.scores[axis])
        along = ", ".join(f"{byte_text(score)} along {axis}" for axis, score in row.scores.items() if score)
        text += f", by contiguous accesses: {along or 'no contiguous access along any axis'}"
        text += f"; {byte_text(row.uncoalesced)} along none" if row.uncoalesced else ""
        lengths = [axis for axis in row.sizes if not axis.startswith("r")]
        if len(lengths) > 1:
            text += f". Split into {len(lengths)} axes, as a single one would leave accesses uncoalesced"
        elif row.scores[best] and not row.uncoalesced and best in lengths:
            text += ". One axis is enough"
    elif row.by == "votes":
        count = sum(not axis.startswith("r") for axis in row.sizes)
        text += f", by a vote of its nodes: {'one axis serves all' if count == 1 else 'they need several axes'}"
    elif row.by == "matmul":
        text += ", those of the matmul that it writes itself"
    elif row.by == "template":
        text += ", those of its template"
    if row.split:
        text += f" (splitting {row.split} would make more accesses contiguous)"
    return text


def _reduction(row: Tiling) -> str:
    count, limit = reduced(row), persistent_limit(row)
    where = _HINTS.get(row.hint, "")
    text = f"reduces {'' if count is None else f'{count:,} elements '}{where}".rstrip()
    if row.persistent:
        text += ": all of them are in one block at a time (persistent)"
        text += f", as torch does up to {limit:,} of such" if count is not None and count <= limit else ""
    else:
        text += ": a block loops over them"
        text += f", as they are more than {limit:,}" if count is not None and count > limit else ""
    if row.cooperative:
        text += "; several blocks share one reduction (cooperative), as there are too few of them for the GPU"
    return text


def _written(row: Heuristics) -> str:
    hints = ", ".join(f"{axis} {length}" for axis, length in row.size_hints.items())
    blocks = {name: value for name, value in row.constants.items() if name.startswith(("BLOCK", "XBLOCK", "YBLOCK"))}
    words = [
        f"block sizes by torch's {row.name} heuristics",
        f"for {hints} (rounded up)" if hints else "",
        f"tile hint {row.tile_hint}" if row.tile_hint else "",
        f"grid {row.grid}" if row.grid else "",
        " ".join(f"{name}={value}" for name, value in blocks.items()),
    ]
    return ", ".join(word for word in words if word)


def _nest(row: LoopNest) -> str:
    loops = _loops(row.loops)
    if row.inside:
        loops = f"{loops}{' × ' if loops else ''}({'; '.join(_loops(nest) for nest in row.inside)})"
    text = f"loops {loops or 'none'}"
    if row.vector is not None:
        text += f": {row.vector} elements at once ({row.instructions.split(' ')[0]}"
        text += ", tiles of two loops)" if "tile" in row.versions else ")"
    else:
        text += f": not vectorized{f', {row.why}' * bool(row.why)}"
    return f"{text}; {_threads(row)}"


def _loops(loops: tuple[Loop, ...]) -> str:
    return " × ".join(
        f"{loop.size}{' reduced' * loop.is_reduction}{' in threads' * loop.is_parallel}" for loop in loops
    )


def _threads(row: LoopNest) -> str:
    if row.depth:
        return f"{number_of(row.depth, 'loop')} in {number_of(row.threads, 'thread')}"
    if row.threads > 1 and row.elements is not None and row.chunk and row.elements // row.threads < row.chunk:
        return f"one thread: {row.elements:,} elements are fewer than {row.chunk:,} for each of {row.threads} threads"
    return "one thread"
