"""Makes a dump of a folder that torch wrote for TORCH_COMPILE_DEBUG."""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from inspect_compile.dump import paths
from inspect_compile.dump.files import text_inside
from inspect_compile.dump.reader import MOST_GRAPHS
from inspect_compile.dump.writer import Writer
from inspect_compile.errors import DumpError
from inspect_compile.facts import Run
from inspect_compile.knowledge.origins import DEBUG_FOLDER, DEBUG_FOLDER_WITH_LOG, note
from inspect_compile.origins.counted_files import main_device
from inspect_compile.origins.graph_texts import FILES, LOG, read_graph

_INDUCTOR: Final = "torchinductor"
_RUN: Final = "run_"
_OF_GRAPH: Final = re.compile(r"(.+)_(forward|backward|inference|joint)_(\d{1,9})\.(\d{1,9})")
_OF_RUN: Final = re.compile(r"run_(\d{4})_(\d\d)_(\d\d)_(\d\d)_(\d\d)_(\d\d)_\d{1,9}-pid_(\d{1,9})")
_VERSION: Final = re.compile(r"^# torch version: (\S{1,100})", re.MULTILINE)
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
    Writer(root).run(Run(status="ranks", origin=DEBUG_FOLDER, argv=(folder.name,), notes=(note(DEBUG_FOLDER),)))
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
        return named and paths.inside(root, folder) and any((folder / name).is_file() for name in FILES)
    except OSError:
        return False


def _order(graph: Path) -> tuple[int, str]:
    return int(graph.name.rpartition(".")[2]), graph.name


def _read_run(folder: Path, run: Path, graphs: list[Path], root: Path) -> None:
    writer = Writer(root)
    versions: dict[str, str] = {}
    devices: dict[str, None] = {}
    notes: list[str] = []
    has_log = False
    for graph in graphs:
        texts = {name: text for name in FILES if (text := text_inside(folder, graph / name)) is not None}
        notes += filter(None, (_write_graph(writer, graph.name, texts, devices),))
        has_log |= LOG in texts
        if (version := _VERSION.search(texts.get(paths.FX_RUNNABLE, "")[:20_000])) is not None:
            versions["torch"] = version[1]
    writer.flush()
    origin = DEBUG_FOLDER_WITH_LOG if has_log else DEBUG_FOLDER
    began = _OF_RUN.match(run.name)
    writer.run(
        Run(
            status="finished",
            origin=origin,
            argv=(run.name,),
            pid=int(began[7]) if began else 0,
            started=f"{began[1]}-{began[2]}-{began[3]}T{began[4]}:{began[5]}:{began[6]}" if began else "",
            versions=versions,
            device=main_device(devices),
            notes=(note(origin), *dict.fromkeys(notes)),
        )
    )
    if writer.trouble:
        raise DumpError("not writable", writer.trouble, str(root))
    _mark_finished(root)


def _mark_finished(root: Path) -> None:
    """Nothing is derived of such a dump: what that would be made of is not in it, or torch's own file has its name."""
    (root / paths.FINISHED).write_text("", encoding="utf-8")


def _write_graph(writer: Writer, name: str, texts: Mapping[str, str], devices: dict[str, None]) -> str:
    """Write what is known of one graph, and return what is to be noted; adds to `devices` where its tensors are."""
    parts = _OF_GRAPH.fullmatch(name)
    read = read_graph(name, parts[2] if parts else "inference", texts)
    for fact in read.facts:
        writer.add(fact)
    for path, text in read.files.items():
        writer.text(f"{paths.graph_folder(name)}/{path}", text)
    devices.update(dict.fromkeys(read.devices))
    return read.note
