"""Inductor's cache folder (`/tmp/torchinductor_USER`): generated code, its kernels, keys of whole graphs.

Its entries of whole graphs are pickles: of these only names and sizes are taken.
"""

import re
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Final, NamedTuple

import msgspec

from inspect_compile.dump import paths
from inspect_compile.dump.files import file_inside, text_inside
from inspect_compile.dump.reader import MOST_GRAPHS
from inspect_compile.dump.writer import Writer
from inspect_compile.facts import Artifact, Kernel
from inspect_compile.knowledge.origins import INDUCTOR_CACHE
from inspect_compile.origins.counted_files import Counted, finish, main_device
from inspect_compile.origins.graph_texts import CODE, CPP_CODE, read_graph
from inspect_compile.origins.triton_cache import (
    BECAME,
    GraphlessKernels,
    kernels_of,
    version_of,
    write_binary,
)

_SHARD: Final = re.compile(r"[a-z2-7]{2}")
_AOTI: Final = re.compile(r"c[a-z2-7]{51}")
"""Folder of a model of AOTInductor."""
_CODE: Final = re.compile(r"c[a-z2-7]{51}\.(?:py|cpp|main\.cpp|so|main\.so|best_config)")
_KEYS: Final = ("fxgraph", "aotautograd")
"""Folders with entries of whole graphs."""
_TRITON: Final = "triton"
_MOST_FILES: Final = 200_000
_AOT_ID: Final = re.compile(r"^# AOT ID: \['(\d{1,9})_([a-z]{1,20})'\]", re.MULTILINE)
_BEGINNING: Final = 4000
_BEST: Final = ".best_config"
_LARGEST_CONFIG: Final = 1 << 20
_NO_SIZES: Final = frozenset(
    {"num_warps", "num_stages", "configs_hash", "found_by_coordesc", "time_taken_ms", "triton_cache_hash"}
)
_KINDS: Final = {
    ".main.cpp": "C++ kernel", ".main.so": "library of a C++ kernel", ".cpp": "other C++ code", ".so": "other library",
    ".h": "C++ header", ".best_config": "best configuration of a Triton kernel",
}  # fmt: skip
"""Ending of a file → what it is."""
_MODEL: Final = "C++ code of AOTInductor"
_WRAPPER, _KERNEL, _OTHER = "generated code of a graph", "source of a Triton kernel", "other file"


class _Graph(NamedTuple):
    """The generated code of one graph."""

    path: Path
    modified: float
    kernels: Path | None = None
    """Of AOTInductor, the file with its C++ kernels."""


def is_inductor_cache(path: Path) -> bool:
    """Whether `path` is Inductor's cache."""
    shards = (folder for folder in _entries(path) if _SHARD.fullmatch(folder.name) and folder.is_dir())
    return any(_CODE.fullmatch(file.name) for folder in shards for file in islice(_entries(folder), 100)) or any(
        file.name.endswith(".wrapper.cpp")
        for folder in _entries(path)
        if _AOTI.fullmatch(folder.name)
        for file in _entries(folder)
    )


def _entries(folder: Path) -> Iterator[Path]:
    try:
        yield from sorted(islice(folder.iterdir(), _MOST_FILES))
    except OSError:
        return


def read_inductor_cache(path: Path, root: Path) -> None:
    """Make the dump `root`, a new directory, of Inductor's cache. Raises DumpError and OSError."""
    root.mkdir(parents=True)
    writer, counted = Writer(root), Counted()
    graphs, best = _files(path, counted)
    of_source: dict[str, list[tuple[str, str]]] = {}
    devices: dict[str, None] = {}
    notes: dict[str, None] = {}
    names: set[str] = set()
    for graph in sorted(graphs, key=lambda graph: (graph.modified, graph.path.name))[:MOST_GRAPHS]:
        text = text_inside(path, graph.path) or ""
        name = next(name for name in _names(*_number(graph, text)) if name not in names)
        names.add(name)
        kind = name.partition(".")[0].rpartition("_")[2]
        read = read_graph(name, kind, _texts(path, graph, text))
        for fact in read.facts:
            writer.add(fact)
            if isinstance(fact, Kernel):
                devices[fact.device] = None
                of_source.setdefault(_stem(fact.path), []).append((fact.graph, fact.name))
        for file, contents in read.files.items():
            writer.text(f"{paths.graph_folder(name)}/{file}", contents)
        if read.note:
            notes[read.note] = None
    alone, versions = GraphlessKernels(writer), dict[str, str]()
    for compiled in kernels_of(path / _TRITON, counted):
        config = best.get(compiled.key)
        versions.update(version_of(compiled.metadata))
        used = of_source.get(_stem(compiled.where.file), []) if compiled.where is not None else []
        for outermost, kernel in used:
            write_binary(writer, outermost, kernel, compiled, config, is_remembered=config is not None)
        if not used:
            alone.add(compiled, config)
    devices[alone.done()] = None
    for fact in _keys(path, counted):
        writer.add(fact)
    finish(writer, counted.facts(_BECAME), INDUCTOR_CACHE, path.name, versions, main_device(devices), notes)


_BECAME: Final = {
    **BECAME,
    _WRAPPER: "kernels, wrapper",
    _MODEL: "kernels, wrapper",
    _KINDS[_BEST]: "binaries",
    **{f"entry of {name}": "artifacts" for name in _KEYS},
}


def _number(graph: _Graph, text: str) -> tuple[str, str]:
    """torch's number of the graph and its kind, `model__0_forward`, and the name of its file."""
    found = _AOT_ID.search(text[:_BEGINNING])
    number, kind = (found[1], found[2]) if found else ("", "inference")
    return f"model__{number}_{kind}", graph.path.name.partition(".")[0]


def _texts(root: Path, graph: _Graph, text: str) -> dict[str, str]:
    """The code by its name in a dump."""
    if graph.path.suffix == ".py":
        return {CODE: text}
    kernels = text_inside(root, graph.kernels) if graph.kernels is not None else None
    return {CPP_CODE: f"{text}\n{kernels or ''}"}


def _names(stem: str, key: str) -> Iterator[str]:
    """Names for a graph: torch's number and kind, and as much of its file's name as is needed."""
    yield f"{stem}.{key[:9]}"
    yield f"{stem}.{key}"
    yield from (f"{stem}.{key}-{number}" for number in range(2, MOST_GRAPHS + 2))


def _stem(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".py")


def _files(path: Path, counted: Counted) -> tuple[list[_Graph], dict[str, dict[str, int | str]]]:
    """The generated code of each graph, and Triton's key → the block sizes that torch found the fastest."""
    graphs: list[_Graph] = []
    best: dict[str, dict[str, int | str]] = {}
    for folder in _entries(path):
        if not paths.inside(path, folder):
            continue
        if _AOTI.fullmatch(folder.name):
            graphs += _models(path, folder, counted)
        if not _SHARD.fullmatch(folder.name):
            continue
        for file in _entries(folder):
            if not file.is_file() or not paths.inside(path, file):
                continue
            status = file.stat()
            what = next((kind for ending, kind in _KINDS.items() if file.name.endswith(ending)), _OTHER)
            if file.suffix == ".py":
                what = _python(path, file)
            counted.add(what, status.st_size)
            if what == _WRAPPER:
                graphs.append(_Graph(file, status.st_mtime))
            elif file.name.endswith(_BEST):
                best.update(_best(path, file))
    return graphs, best


def _models(root: Path, folder: Path, counted: Counted) -> Iterator[_Graph]:
    """The models of AOTInductor that torch compiled in `folder`."""
    files = [file for file in _entries(folder) if file.is_file() and paths.inside(root, file)]
    for file in files:
        is_code = file.suffix == ".cpp"
        counted.add(_MODEL if is_code else "other file of AOTInductor", file.stat().st_size)
    kernels = next((file for file in files if file.name.endswith(".kernel.cpp")), None)
    for file in files:
        if file.suffix == ".cpp" and file != kernels:
            yield _Graph(file, file.stat().st_mtime, kernels)


def _python(root: Path, path: Path) -> str:
    opened = file_inside(root, path)
    if opened is None:
        return _OTHER
    with opened as file:
        begins = file.read(_BEGINNING).decode("utf-8", "replace")
    if _AOT_ID.search(begins):
        return _WRAPPER
    return _KERNEL if "triton" in begins else _OTHER


def _best(root: Path, path: Path) -> dict[str, dict[str, int | str]]:
    opened = file_inside(root, path)
    if opened is None:
        return {}
    with opened as file:
        data = file.read(_LARGEST_CONFIG)
    try:
        found = msgspec.json.decode(data)
    except (ValueError, RecursionError):  # also of bytes that are no UTF-8
        return {}
    key = found.get("triton_cache_hash") if isinstance(found, dict) else None
    return {key: _sizes(found)} if isinstance(key, str) else {}


def _sizes(found: Mapping[str, object]) -> dict[str, int | str]:
    sizes = {name: value for name, value in found.items() if name not in _NO_SIZES and len(name) < 100}
    return {name: value for name, value in sizes.items() if type(value) is int and abs(value) < 1 << 31}


def _keys(path: Path, counted: Counted) -> Iterator[Artifact]:
    """The keys of whole graphs; nothing in their entries is read."""
    for name in _KEYS:
        keys: list[str] = []
        for entry in _entries_of_graphs(path / name):
            if paths.inside(path, entry):
                counted.add(f"entry of {name}", sum(file.stat().st_size for file in _entries(entry) if file.is_file()))
                keys.append(entry.name)
        if keys:
            yield Artifact(name=f"keys of {name}", text="\n".join(keys))


def _entries_of_graphs(folder: Path) -> Iterator[Path]:
    """torch 2.13 has those of `fxgraph` in shards, and those of `aotautograd` side by side."""
    for entry in _entries(folder):
        if _SHARD.fullmatch(entry.name):
            yield from filter(Path.is_dir, _entries(entry))
        elif entry.is_dir():
            yield entry
