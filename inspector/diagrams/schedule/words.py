"""The texts of a diagram: in boxes, at arrows, and in tooltips."""

import re
from collections.abc import Iterable, Sequence
from typing import Final

from inspect_compile.analysis.frontend.frames import resumed
from inspect_compile.diagrams.schedule.inputs import Input
from inspect_compile.facts import Access, Location, Operation
from inspect_compile.graph.kernels.launches import Launch
from inspect_compile.tables.text import byte_text, file_name, number_of, one_line, place_text

WIDTH: Final = 38
"""Maximum characters of a box's first line; tooltips have the rest."""

LINE_WIDTH: Final = 46
"""Maximum characters of its other lines, which are smaller."""

TOOLTIP_WIDTH: Final = 160

MOST_TOOLTIP_LINES: Final = 24
_VIEW: Final = re.compile(
    r"(?:_unsafe_view|alias|detach|expand|getitem|permute|reshape|select|slice|split|squeeze|t|transpose|unsqueeze|view)"
    r"(?:_tensor|_default|_int)?(?:_\d+)?$"
)
_PREFIX: Final = re.compile(r"(?:cpp|triton_[a-z]{2,4})_fused_+(?=\w)")
_MOST_BUFFERS: Final = 3


def shortened(text: str, width: int = WIDTH) -> str:
    """`text` on one line, cut off at `width`."""
    text = one_line(text)
    return text if len(text) <= width else f"{text[: width - 1].rstrip()}…"


def name_shortened(name: str, width: int = WIDTH) -> str:
    """A kernel's name without what most names begin with and, if that is not enough, without its middle: the beginning
    says what it is, and the end distinguishes it.
    """
    name = one_line(name)
    tail = 8
    if len(name) > width and (prefix := _PREFIX.match(name)):
        name = f"…{name[prefix.end() :]}"
    return name if len(name) <= width else f"{name[: width - tail - 1]}…{name[-tail:]}"


def listed(names: Sequence[str], width: int = WIDTH) -> str:
    """As many of `names` as fit in `width`, at least one, and the number of others."""
    text = ", ".join(names)
    if len(text) <= width:
        return text
    kept: list[str] = []
    for name in names:
        more = f", +{len(names) - len(kept) - 1}" if len(kept) + 1 < len(names) else ""
        if not kept:
            kept.append(shortened(name, max(width - len(more), 8)))
        elif len(", ".join([*kept, name])) + len(more) <= width:
            kept.append(name)
        else:
            break
    return ", ".join(kept) + (f", +{len(names) - len(kept)}" if len(kept) < len(names) else "")


def path_range(first: str, last: str) -> str:
    """`h.0 … h.11`: two paths of nn.Modules up to the number of the layer."""
    one, other = one_line(first).split("."), one_line(last).split(".")
    kept = next((place + 1 for place, part in enumerate(one) if part.isdecimal()), len(one))
    begin, end = ".".join(one[:kept]), ".".join(other[:kept])
    return begin if begin == end else f"{begin} … {end}"


def function_text(function: str) -> str:
    """A function's name; of what Dynamo made of the rest of one, `step, the rest after line 10`."""
    begun = resumed(function)
    return f"{begun[0]}, the rest after line {begun[1]}" if begun is not None else one_line(function) or "?"


def computing(nodes: Sequence[str]) -> tuple[str, ...]:
    """The FX nodes of an operation without views, if there are others."""
    return tuple(node for node in nodes if not _VIEW.match(node)) or tuple(nodes)


def place_and_code(where: Location | None) -> str:
    """`mixed.py:9  y = self.norm(y)`."""
    return "" if where is None else f"{place_text(where)}  {where.code.strip()}".rstrip()


def code_at(where: Location, file: str) -> str:
    """`9  y = self.norm(y)` in a picture whose lines are all of `file`, if that is not empty."""
    return f"{where.line}  {where.code.strip()}".rstrip() if file else place_and_code(where)


def one_file(places: Iterable[Location | None]) -> str:
    """The file that all these lines are of; empty if there are several, or none."""
    files = {where.file for where in places if where is not None}
    return files.pop() if len(files) == 1 else ""


def file_subtitle(file: str) -> tuple[str, ...]:
    """Which file the lines in the boxes are of, where boxes do not say it."""
    return (f"source lines are those of {file_name(file)}",) if file else ()


def places(found: Iterable[Location]) -> list[str]:
    """Each source line once."""
    return list(dict.fromkeys(place_and_code(where) for where in found))


def size_text(access_bytes: int | None) -> str:
    """` 262 kB`; empty if not known, and for a tuple, which has no bytes itself."""
    return "" if not access_bytes else f" {byte_text(access_bytes)}"


def index_text(access: Access) -> str:
    """`buf2[512*c0 + c1]  c0=128, c1=16`."""
    if access.index is None:
        return f"{access.buffer}{', order only' if access.kind == 'weak' else ', all of it'}"
    ranges = f"  {', '.join(access.ranges)}" if access.ranges else ""
    return f"{access.buffer}[{access.index}]{ranges}"


def buffer_lines(sizes: dict[str, int | None]) -> tuple[str, ...]:
    """The label of an arrow: each buffer and its bytes, many of them summed up."""
    names = list(sizes)
    lines = [f"{shortened(name)}{size_text(sizes[name])}" for name in names[:_MOST_BUFFERS]]
    if len(names) > _MOST_BUFFERS:
        lines.append(f"+{len(names) - _MOST_BUFFERS}, together{size_text(sum(sizes[name] or 0 for name in names))}")
    return tuple(lines)


def results_line(number: str, size: int | None) -> str:
    """The line of a box that writes results of the graph, where an arrow for each such box would hide the others."""
    return f"→ OUTPUT: {number}{size_text(size)}"


def input_lines(known: Input | None) -> tuple[str, ...]:
    """The second line of an input's box: its name in the graph, type and shape."""
    if known is None or known.tensor is None:
        return ()
    shape = ", ".join(map(str, known.tensor.size))
    tensor = f"{known.tensor.dtype} [{shape}]"
    return (shortened(f"{known.name}  {tensor}" if known.text != known.name else tensor, LINE_WIDTH),)


def operation_tooltip(
    operation: Operation, lines: Iterable[Location], launch: Launch | None, *, is_brief: bool = False
) -> tuple[str, ...]:
    """Everything known about an operation; the brief form is without torch's classes and what only orders it."""
    entries = [" · ".join(part for part in (operation.name, operation.kind, operation.device) if part)]
    if not is_brief:
        entries.append(", ".join(part for part in (operation.node_type, operation.ir_type) if part))
    if operation.numel:
        reduced = f", each from {operation.rnumel}" if operation.rnumel not in ("", "1") else ""
        entries.append(f"elements: {operation.numel}{reduced}")
    entries += places(lines)
    if operation.nodes:
        entries.append(f"FX: {', '.join(operation.nodes)}")
    entries += [f"reads {index_text(access)}{size_text(access.bytes)}" for access in operation.reads]
    entries += [f"writes {index_text(access)}{size_text(access.bytes)}" for access in operation.writes]
    if operation.predecessors and not is_brief:
        entries.append(f"after: {', '.join(operation.predecessors)}")
    if launch is not None:
        entries.append(f"kernel: {launch.kernel.name}{_called_at(launch)}")
    return tooltip(entries)


def kernel_tooltip(launch: Launch, *, is_brief: bool = False) -> tuple[str, ...]:
    """Everything known about one call of a generated kernel; the brief form is without what its boxes tell."""
    kernel = launch.kernel
    entries = [kernel.name, f"{kernel.kind} kernel on {kernel.device}{_called_at(launch)}"]
    if len(kernel.launches) > 1:
        entries.append(f"one source, called {number_of(len(kernel.launches), 'time')}")
    if kernel.source:
        entries.append(f"source: {kernel.source}")
    if not is_brief:
        entries.append(f"operations: {', '.join(launch.operations)}")
        if launch.nodes:
            entries.append(f"FX: {', '.join(launch.nodes)}")
        entries += places(launch.lines)
    if kernel.inplace:
        entries.append(f"in place: {', '.join(kernel.inplace)}")
    return tooltip(entries)


def tooltip(lines: Iterable[str]) -> tuple[str, ...]:
    """Lines for a tooltip, limited in length and number."""
    found = [shortened(line, TOOLTIP_WIDTH) for line in lines if line]
    if len(found) > MOST_TOOLTIP_LINES:
        found[MOST_TOOLTIP_LINES - 1 :] = [f"… and {len(found) - MOST_TOOLTIP_LINES + 1} lines more"]
    return tuple(found)


def reads(found: Iterable[tuple[Operation, Access]]) -> list[str]:
    """`op4 reads buf3[c0] 8.19 kB` for each read."""
    return [f"{reader.name} reads {index_text(access)}{size_text(access.bytes)}" for reader, access in found]


def _called_at(launch: Launch) -> str:
    return "" if launch.line is None else f", called at output_code.py:{launch.line}"
