"""Makes a dump of a folder that torch wrote for TORCH_COMPILE_DEBUG."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from inspect_compile.dump import paths
from inspect_compile.dump.files import text_inside
from inspect_compile.dump.reader import MOST_GRAPHS
from inspect_compile.dump.writer import Writer
from inspect_compile.errors import DumpError
from inspect_compile.facts import Fact, Graph, GraphEnd, Kernel, Node, Operation, Run, Symbol, WrapperLine
from inspect_compile.facts.nesting import enclosing, own_name
from inspect_compile.origins.fusion_log import fusion_rows
from inspect_compile.origins.fx_text import nodes_of
from inspect_compile.origins.ir_text import buffer_bytes, operations_of
from inspect_compile.origins.launched_groups import joined
from inspect_compile.origins.output_code import OutputCode, read_code
from inspect_compile.origins.provenance import kernel_nodes, with_nodes

ORIGIN: Final = "TORCH_COMPILE_DEBUG folder"
NOTE: Final = (
    f"read from a {ORIGIN}, which holds no compile ids, guards, passes, lowering, autotuning, binaries or times: these "
    "are not known"
)
NO_FUSION: Final = (
    "why the scheduler fused or did not is not known: torch writes that for TORCH_LOGS=fusion, and into this folder if "
    "torch._inductor.config.trace.debug_log is set"
)
_INDUCTOR: Final = "torchinductor"
_RUN: Final = "run_"
_CODE: Final = f"{paths.OUTPUT_CODE}.py"
_CPP_CODE: Final = f"{paths.OUTPUT_CODE}.cpp"
_LOG: Final = "debug.log"
"""Of a graph, where `torch._inductor.config.trace.debug_log` is set."""
_FILES: Final = (
    paths.FX_RUNNABLE, paths.FX_READABLE, paths.FX_TRANSFORMED, paths.IR_PRE_FUSION, paths.IR_POST_FUSION, _CODE,
    _CPP_CODE, paths.PROVENANCE, _LOG,
)  # fmt: skip
"""torch's files of a graph, which the dump has under the same names."""
_OF_GRAPH: Final = re.compile(r"(.+)_(forward|backward|inference|joint)_(\d{1,9})\.(\d{1,9})")
_OF_RUN: Final = re.compile(r"run_(\d{4})_(\d\d)_(\d\d)_(\d\d)_(\d\d)_(\d\d)_\d{1,9}-pid_(\d{1,9})")
_VERSION: Final = re.compile(r"^# torch version: (\S{1,100})", re.MULTILINE)
_SYMBOL: Final = re.compile(r"[su]\d+")
_MOST_FOLDERS: Final = 100_000
"""Maximum number of entries of a folder that are looked at."""


def is_debug_folder(path: Path) -> bool:
    """Whether `path` is a folder that torch wrote for TORCH_COMPILE_DEBUG, of all runs, of one, or of one graph."""
    return bool(_runs(path))


def read_debug_folder(folder: Path, root: Path) -> None:
    """Make the dump `root`, a new directory, of torch's folder; of several runs in it each is a part of the dump.

    Raises DumpError if there is nothing to read, or the dump cannot be written.
    """
    runs = _runs(folder)
    if not runs:
        raise DumpError("none", "holds no graph that torch wrote for TORCH_COMPILE_DEBUG", str(folder))
    root.mkdir(parents=True)
    if len(runs) == 1:
        [(run, graphs)] = runs.items()
        _read_run(folder, run, graphs, root)
        return
    for number, (run, graphs) in enumerate(runs.items(), 1):
        process = _OF_RUN.match(run.name)
        part = root / paths.process_folder(None, int(process[7]) if process else number, number)
        part.mkdir()
        _read_run(folder, run, graphs, part)
    Writer(root).run(Run(status="ranks", argv=(folder.name,), notes=(NOTE,)))
    _mark_finished(root)


def _runs(path: Path) -> dict[Path, list[Path]]:
    """The folder of each run → the folders of its graphs, in the order in which torch compiled them."""
    if (path / paths.RUN).exists():
        return {}  # a dump has the same files
    folders = [path, *(run for run in _folders(path, path) if run.name.startswith(_RUN))]
    found: dict[Path, list[Path]] = {}
    for run in folders:
        if (run / paths.RUN).exists():
            continue
        places = [run / _INDUCTOR] if (run / _INDUCTOR).is_dir() else [run]
        graphs = [graph for place in places for graph in _folders(path, place) if _is_graph(path, graph)]
        if graphs:
            found[run] = sorted(graphs, key=_order)[:MOST_GRAPHS]
    return found or ({path.parent: [path]} if _is_graph(path, path) else {})


def _folders(root: Path, folder: Path) -> list[Path]:
    """The folders in `folder`, by name, without links out of `root`."""
    try:
        entries = sorted(entry for entry, _ in zip(folder.iterdir(), range(_MOST_FOLDERS), strict=False))
        return [entry for entry in entries if entry.is_dir() and paths.inside(root, entry)]
    except OSError:
        return []


def _is_graph(root: Path, folder: Path) -> bool:
    named = _OF_GRAPH.fullmatch(folder.name) is not None
    try:
        return named and paths.inside(root, folder) and any((folder / name).is_file() for name in _FILES)
    except OSError:
        return False


def _order(graph: Path) -> tuple[int, str]:
    return int(graph.name.rpartition(".")[2]), graph.name


def _read_run(folder: Path, run: Path, graphs: list[Path], root: Path) -> None:
    writer = Writer(root)
    versions: dict[str, str] = {}
    devices: dict[str, None] = {}
    notes = [NOTE]
    has_log = False
    for graph in graphs:
        texts = {name: text for name in _FILES if (text := text_inside(folder, graph / name)) is not None}
        code = _write_graph(writer, graph.name, texts, devices)
        notes += [code.note] if code.note else []
        has_log = has_log or _LOG in texts
        if (version := _VERSION.search(texts.get(paths.FX_RUNNABLE, "")[:20_000])) is not None:
            versions["torch"] = version[1]
    writer.flush()
    began = _OF_RUN.match(run.name)
    writer.run(
        Run(
            status="finished",
            argv=(run.name,),
            pid=int(began[7]) if began else 0,
            started=f"{began[1]}-{began[2]}-{began[3]}T{began[4]}:{began[5]}:{began[6]}" if began else "",
            versions=versions,
            device=next((name for name in devices if name != "cpu"), "cpu"),
            notes=tuple(dict.fromkeys([*notes, *([] if has_log else [NO_FUSION])])),
        )
    )
    if writer.trouble:
        raise DumpError("not writable", writer.trouble, str(root))
    _mark_finished(root)


def _mark_finished(root: Path) -> None:
    """Nothing is derived of such a dump: what that would be made of is not in it, or torch's own file has its name."""
    (root / paths.FINISHED).write_text("", encoding="utf-8")


def _write_graph(writer: Writer, name: str, texts: Mapping[str, str], devices: dict[str, None]) -> OutputCode:
    """Write what is known of one graph; adds to `devices` where its tensors are."""
    for file, text in texts.items():
        writer.text(f"{paths.graph_folder(name)}/{file}", text)
    nodes = nodes_of(name, "aot", texts.get(paths.FX_READABLE, ""))
    final = nodes_of(name, "post_grad", texts.get(paths.FX_TRANSFORMED, ""))
    after = texts.get(paths.IR_POST_FUSION, "")
    code = OutputCode()
    if _CODE in texts:
        code = read_code(name, texts[_CODE])
        code = read_code(name, texts[_CODE], buffer_bytes(after, code.symbols)) if after else code
    inputs = {node.target: node.values[0] for node in final or nodes if node.op == "placeholder" and node.values}
    graphs = [name, *dict.fromkeys(fact.graph for fact in code.facts if fact.graph != name)]
    operations = [
        operation
        for phase, text in (("pre_fusion", texts.get(paths.IR_PRE_FUSION, "")), ("post_fusion", after))
        for operation in _of_their_graph(operations_of(name, phase, text, inputs, code.symbols), graphs)
    ]
    of_kernel = kernel_nodes(texts.get(paths.PROVENANCE, "{}"))
    facts = list(_joined(code, texts.get(_CODE, ""), of_kernel, final, operations))
    own = {operation.device: None for operation in operations if operation.device}
    devices.update(own)
    looks = fusion_rows(name, texts.get(_LOG, ""), operations)
    for fact in (*looks, *_graphs(name, code, texts, nodes or final, ", ".join(sorted(own))), *nodes, *final, *facts):
        writer.add(fact)
    for path, source in code.sources:
        writer.text(f"{paths.graph_folder(name)}/{path}", source)
    return code


def _of_their_graph(operations: list[Operation], graphs: list[str]) -> list[Operation]:
    """The operations with the graph that they are of: torch writes the schedules of all nested graphs to one file, and
    the last one remains. What is in a nested graph has its name in front.
    """
    for graph in graphs[1:]:
        if all(operation.name.startswith(f"{own_name(graph)}_") for operation in operations):
            return [replace(operation, graph=graph) for operation in operations]
    return operations


def _joined(
    code: OutputCode,
    text: str,
    of_kernel: Mapping[str, tuple[str, ...]],
    nodes: list[Node],
    operations: list[Operation],
) -> Iterator[Fact]:
    """The facts of the code and of the schedule, each with what the other one says of it."""
    for graph in dict.fromkeys(fact.graph for fact in (*code.facts, *operations)):
        own = [fact for fact in code.facts if fact.graph == graph]
        kernels = with_nodes(
            [fact for fact in own if isinstance(fact, Kernel)],
            text,
            of_kernel,
            [node for node in nodes if node.graph == graph],
        )
        lines = [fact for fact in own if isinstance(fact, WrapperLine)]
        found = joined(kernels, lines, [operation for operation in operations if operation.graph == graph])
        yield from found.operations
        yield from found.lines
        yield from (fact for fact in own if not isinstance(fact, (Kernel, WrapperLine)))
        yield from found.kernels


def _graphs(name: str, code: OutputCode, texts: Mapping[str, str], nodes: list[Node], device: str) -> Iterator[Fact]:
    parts = _OF_GRAPH.fullmatch(name)
    yield Graph(
        graph=name,
        kind=parts[2] if parts else "inference",
        name=name.rpartition(".")[0],
        inputs=sum(node.op == "placeholder" and node.graph == name for node in nodes),
        is_cpp_wrapper=_CPP_CODE in texts,
        device=device,
    )
    for nested in dict.fromkeys(fact.graph for fact in code.facts if fact.graph != name):
        count = sum(node.op == "placeholder" and node.graph == nested for node in nodes)
        yield Graph(graph=nested, kind="subgraph", parent=enclosing(nested), name=own_name(nested), inputs=count)
    for symbol, value in code.symbols.items():
        if _SYMBOL.fullmatch(symbol):
            yield Symbol(graph=name, name=symbol, hint=str(value))
    if _CODE in texts or _CPP_CODE in texts:
        yield GraphEnd(graph=name, status="compiled", seconds=0.0)
