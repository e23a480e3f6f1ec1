"""What one process compiled, as plain values, without what differs between processes that compile the same.

Ids of objects, paths, device numbers and counters in names are removed; everything else is kept, so that two contents
can be compared.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from inspect_compile.analysis.dumps.run_state import compile_status, run_state
from inspect_compile.dump import Dump
from inspect_compile.dump.paths import OUTPUT_CODE
from inspect_compile.facts import (
    CacheLookup,
    Frame,
    Graph,
    GraphBreak,
    GraphEnd,
    Guard,
    Kernel,
    Location,
    Node,
    Operation,
    Recompile,
    Remark,
    Tensor,
)
from inspect_compile.graph import CompiledGraph, grouped, script_name, short

Lines = tuple[str, ...]

_OWN = re.compile(
    r"0x[0-9a-fA-F]{5,}|(?<![.0-9A-Za-z])\d{12,}(?:_c\d+)?(?![0-9A-Za-z])"  # addresses and ids, in names too: `_140_c0`
    r"|(?<=cuda:)\d+|(?<=index=)\d+(?=[,)])"  # which one of several equal devices
    r"|(?<=__builtins_dict___)\d+"  # a count of what Dynamo has named so far
    r"|(?<='backend_hash': ')\w+"
)
_ID = re.compile(r"(_id\((?:(?!_id\().)*?, )\d+")
_PATH = re.compile(r"(?<![\w.])/(?:[^/\s'\"<>()]+/)+")
_COMMENT = re.compile(r"^[^\S\n]*(?:#(?!include|define|pragma|if|else|endif)|//).*\n?", re.MULTILINE)
_DEVICE = re.compile(r"\b(?:cpu|cuda(?::[\d#]+)?)\b")
_NAME = re.compile(r"%(\w+)")
_WORD = re.compile(r"\w+")
_COLLECTIVE = re.compile(r"^_?(?:c10d|dist|symm_mem)\w*\.")
_WAITS = "wait_tensor"
_OWN_VARIABLES = re.compile(r"RANK$|^TORCHELASTIC_|^TORCH_NCCL_|_DIR$|PATH$|^(?:CUDA|HIP)_VISIBLE_DEVICES$")


@dataclass(frozen=True)
class GraphContent:
    """A graph that Inductor compiled, nested graphs included."""

    graph: str
    kind: str
    compile_id: str
    status: str
    """compiled, failed or stopped; without an end, `open`, or `unfinished` once the program has ended."""
    nodes: Lines
    """The post-grad nodes, one per line: operator, literal arguments, output."""
    wiring: Lines
    """The inputs of each node, by their positions."""
    collectives: Lines
    """The nodes that all ranks have to call together, in order."""
    kernels: Lines
    """The content of each kernel; the name of an extern kernel."""
    kernel_names: Lines
    groups: Lines
    """What each scheduler node computes after fusion, its FX nodes by their positions."""
    group_names: Lines
    """The same with the names of FX nodes, which two compiles of one graph may number differently."""


@dataclass(frozen=True)
class FrameContent:
    """The compile of one Python frame."""

    compile_id: str
    function: str
    where: str
    """The first line of its function: `model.py:12`."""
    script: str
    """The file name of the program that was run."""
    status: str
    guards: Lines
    recompiles: Lines
    breaks: Lines
    caches: Lines
    remarks: Lines

    def in_any_file(self, place: str) -> str:
        """A text that begins with a place, without the file name if that is the program's: two programs may be the same
        one in files of other names.
        """
        return place.removeprefix(self.script) if place.startswith(f"{self.script}:") else place


@dataclass(frozen=True)
class Content:
    """Everything that one process compiled, in order."""

    frames: tuple[FrameContent, ...]
    graphs: tuple[GraphContent, ...]
    settings: Lines
    """Versions, device, and the environment variables that could change a compile."""
    target: str = ""
    """The GPU that was compiled for and not there; empty if it was compiled for what was there."""
    dump: Dump = field(kw_only=True, compare=False, repr=False)
    """Where it was read."""


def content(dump: Dump) -> Content:
    """Read the content of a dump: the tables of every graph and the sources of their kernels."""
    ends, without_end = {end.graph: end.status for end in dump.rows(GraphEnd)}, _without_end(dump)
    return Content(
        tuple(_frames(dump, without_end)),
        tuple(
            _graph(dump, graph, ends.get(graph.graph, without_end)) for graph in dump.graphs() if "/" not in graph.graph
        ),
        tuple(_settings(dump)),
        dump.run.target,
        dump=dump,
    )


def graph_content(dump: Dump, graph: Graph, *, devices: bool = True) -> GraphContent:
    """The content of one graph; with `devices=False` it omits where tensors are."""
    end = dump.graph_end(graph.graph)
    return _graph(dump, graph, end.status if end is not None else _without_end(dump), devices)


def _without_end(dump: Dump) -> str:
    return compile_status(None, is_growing=run_state(dump).is_growing)


def code(dump: Dump, graph: str) -> str | None:
    """The generated code of a graph, with kernels named by their position; None if there is none."""
    found = dump.text(graph, f"{OUTPUT_CODE}.py") or dump.text(graph, f"{OUTPUT_CODE}.cpp")
    if found is None:
        return None
    names = dict.fromkeys(kernel.name for kernel in dump.rows(Kernel, graph) if kernel.source)
    numbered = {name: f"KERNEL_{index}" for index, name in enumerate(names)}
    return own(_COMMENT.sub("", _WORD.sub(lambda word: numbered.get(word[0], word[0]), found)))


def own(text: str) -> str:
    """`text` without what is specific to one process."""
    return _PATH.sub("", _OWN.sub("#", _ID.sub(r"\1#", text)))


def _frames(dump: Dump, without_end: str) -> Iterable[FrameContent]:
    last = {frame.graph: frame for frame in dump.rows(Frame)}
    guards = _by_compile((row.graph, _line(row.kind, row.source, " and ".join(row.code))) for row in dump.rows(Guard))
    recompiles = _by_compile((row.graph, own("; ".join(row.failed_guards))) for row in dump.rows(Recompile))
    breaks = _by_compile(
        (row.graph, _line(_place(row.where), (row.reason.splitlines() or [""])[-1])) for row in dump.rows(GraphBreak)
    )
    caches = _by_compile((row.graph, f"{row.cache} {row.outcome}") for row in dump.rows(CacheLookup))
    remarks = _by_compile(
        (row.graph, _line(row.code, row.message)) for row in dump.rows(Remark) if row.code not in _TOLD_ELSEWHERE
    )
    script = script_name(dump.run.argv)
    for compile_id in dict.fromkeys([*last, *recompiles, *breaks]):
        frame = last.get(compile_id)
        yield FrameContent(
            compile_id,
            frame.function if frame is not None else "",
            _place(Location(frame.file, frame.line)) if frame is not None else "",
            script,
            frame.status if frame is not None else without_end,
            *(found.get(compile_id, ()) for found in (guards, recompiles, breaks, caches, remarks)),
        )


_TOLD_ELSEWHERE = ("recompile", "graph-break")


def _graph(dump: Dump, graph: Graph, status: str, devices: bool = True) -> GraphContent:
    name = graph.graph
    nodes = CompiledGraph(dump, name).nodes
    order = {(node.graph, node.name): str(index) for index, node in enumerate(nodes)}
    lines = [_node(node, devices) for node in nodes]
    kernels = {(kernel.graph, kernel.name): kernel for kernel in dump.rows(Kernel, name)}
    groups = CompiledGraph(dump, name).groups
    return GraphContent(
        graph=name,
        kind=graph.kind,
        compile_id=graph.compile_id or "",
        status=status,
        nodes=tuple(lines),
        wiring=tuple(f"{line} {_wired(node, order)}" for line, node in zip(lines, nodes, strict=True)),
        collectives=tuple(line for line in lines if _COLLECTIVE.match(line) and _WAITS not in line),
        kernels=tuple(kernel_source(dump, kernel) for kernel in kernels.values()),
        kernel_names=tuple(kernel.name for kernel in kernels.values()),
        groups=tuple(_group(row, (order.get((row.graph, node), node) for node in row.nodes)) for row in groups),
        group_names=tuple(_group(row, row.nodes) for row in groups),
    )


def _group(row: Operation, nodes: Iterable[str]) -> str:
    return _line(row.kind, row.numel, row.rnumel, row.extern_kernel or "", " ".join(nodes))


def _node(node: Node, devices: bool) -> str:
    values = ", ".join(_tensor(value, devices) for value in node.values)
    target = node.op if node.op in ("placeholder", "output") else node.target
    literals = own(_NAME.sub("%", node.arguments)) if node.op.startswith("call") else ""
    if not devices:
        literals = _DEVICE.sub("", literals)
    return " ".join(
        word for word in (target, f"({literals})" if literals else "", "→" if values else "", values) if word
    )


def _wired(node: Node, order: Mapping[tuple[str, str], str]) -> str:
    return " ".join(order.get((node.graph, name), "?") for name in _NAME.findall(node.arguments) or node.inputs)


def _tensor(tensor: Tensor, devices: bool) -> str:
    size, stride = (",".join(map(str, numbers)) for numbers in (tensor.size, tensor.stride))
    return own(f"{tensor.dtype}[{size}] strides ({stride}) {tensor.device if devices else ''}".rstrip())


def kernel_source(dump: Dump, kernel: Kernel) -> str:
    """A kernel's source without its name and comments; the function of an extern kernel."""
    text = dump.text(kernel.graph, kernel.source) if kernel.source else None
    if text is None:
        return f"{kernel.kind} {kernel.name}"
    return own(_COMMENT.sub("", text.replace(kernel.name, "KERNEL")))


def _settings(dump: Dump) -> Iterable[str]:
    run = dump.run
    yield from (f"{name} {version}" for name, version in sorted(run.versions.items()))
    yield f"device {own(run.device)}"
    yield from (f"not in the dump: {row.message}" for row in run.omitted)
    for name, value in sorted(run.environment.items()):
        if not _OWN_VARIABLES.search(name):
            yield f"{name}={value}"


def _by_compile(rows: Iterable[tuple[str, str]]) -> dict[str, Lines]:
    found = grouped(rows, lambda row: row[0])
    return {compile_id: tuple(line for _, line in lines) for compile_id, lines in found.items()}


def _line(*words: str) -> str:
    return own(" ".join(word for word in words if word))


def _place(where: Location | None) -> str:
    return short(where) if where is not None else ""


def sides(a: Lines, b: Lines, names: tuple[Lines, Lines] | None = None) -> tuple[Lines, Lines]:
    """Lines that are only in `a`, and only in `b`, with multiplicity and in order.

    With `names`, a name for each line of either side, the names of these lines.
    """
    a_names, b_names = names or (a, b)
    left, right = Counter(a) - Counter(b), Counter(b) - Counter(a)
    return tuple(_taken(a, a_names, left)), tuple(_taken(b, b_names, right))


def _taken(lines: Lines, names: Lines, wanted: "Counter[str]") -> Iterable[str]:
    for line, name in zip(lines, names, strict=True):
        if wanted[line]:
            wanted[line] -= 1
            yield name
