"""Programs that torch writes to run a graph again: `fx_graph_runnable.py`, and what its minifier leaves.

They are read as texts, line by line; nothing of them runs.
"""

import ast
import re
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from msgspec.structs import replace

from inspect_compile.dump import paths
from inspect_compile.dump.files import text_inside
from inspect_compile.dump.writer import Writer
from inspect_compile.facts import Graph, Node, Symbol, Tensor
from inspect_compile.knowledge.origins import MINIFIER, RUNNABLE
from inspect_compile.origins.counted_files import Counted, finish, kept_text, main_device
from inspect_compile.origins.dtypes import ITEM_BYTES, LARGEST, product
from inspect_compile.origins.fx_text import nodes_of
from inspect_compile.origins.python_text import dotted, number, numbers

_GRAPH: Final = re.compile(r"^class Repro\(torch\.nn\.Module\):", re.MULTILINE)
_INPUTS: Final = re.compile(r"^def load_args\(reader\):", re.MULTILINE)
_AFTER_AOT: Final = "from torch._dynamo.repro.after_aot import"
_OF_DYNAMO: Final = "from torch._dynamo.repro.after_dynamo import"
_VERSION: Final = re.compile(r"^# torch version: (\S{1,100})", re.MULTILINE)
_HINT: Final = re.compile(r"^((?:s|u|ps|zf|zuf)\d{1,9}) = (-?\d{1,18})$", re.MULTILINE)
_INPUT: Final = re.compile(
    r"\s+(?:(\w{1,200}) = )?(reader\.(?:storage|tensor|symint)\(.{0,2000}\))(?:\s+# (\w{1,300}))?$"
)
_LAUNCHER: Final = "minifier_launcher.py"
_PLACES: Final = ("", "minifier", "checkpoints", "minifier/checkpoints")
"""Where the minifier writes, below the folder of a run or its own."""
_MOST_FILES: Final = 1000
_LONGEST_LINE: Final = 5000
_LOOKED_AT: Final = 64 << 20
_AGAIN: Final = "graph that runs again"
_TORCHS: Final = re.compile(r"\w{1,100}__(?:\d{1,18}_[a-z]{1,20})?_\d{1,9}\.\d{1,9}")
"""torch's name of a graph, and of its folder."""
_BECAME: Final = {_AGAIN: "graphs, nodes", "Dynamo program": "artifacts"}


def is_runnable(path: Path) -> bool:
    """Whether the file `path` is such a program."""
    return path.is_file() and path.suffix == ".py" and _kind(text_inside(path.parent, path) or "") == _AFTER_AOT


def is_minifier_folder(path: Path) -> bool:
    """Whether the folder `path` is one that torch's minifier wrote, or that of a run with one."""
    if not path.is_dir() or (path / paths.RUN).exists():
        return False
    is_named = any((path / place / _LAUNCHER).is_file() for place in _PLACES[:2])
    return (is_named or path.name in ("checkpoints", "minifier")) and next(_files(path), None) is not None


def _kind(text: str) -> str:
    """Which of torch's two kinds of such programs the text is; empty for none."""
    if not _GRAPH.search(text) or not _INPUTS.search(text):
        return ""
    return next((kind for kind in (_AFTER_AOT, _OF_DYNAMO) if kind in text), "")


def _files(folder: Path) -> Iterator[Path]:
    """The programs in a folder of the minifier: first the one of the whole graph, then in the order of their names."""
    for place in _PLACES:
        try:
            found = sorted(islice((folder / place).glob("*.py"), _MOST_FILES), key=_order)
        except OSError:
            continue
        for path in found:
            if path.is_file() and paths.inside(folder, path) and _kind(text_inside(folder, path) or ""):
                yield path


def _order(path: Path) -> tuple[bool, int, str]:
    return path.name != _LAUNCHER, int(path.stem) if path.stem.isdecimal() and len(path.stem) < 10 else -1, path.name


def read_runnable(path: Path, root: Path) -> None:
    """Make the dump `root`, a new directory, of one such program. Raises DumpError and OSError."""
    _read(path.parent, [path], root, RUNNABLE, path.name)


def read_minifier_folder(path: Path, root: Path) -> None:
    """Make the dump `root`, a new directory, of all programs of a minifier. Raises DumpError and OSError."""
    _read(path, list(islice(_files(path), _MOST_FILES)), root, MINIFIER, path.name)


def _read(folder: Path, files: list[Path], root: Path, origin: str, name: str) -> None:
    root.mkdir(parents=True)
    writer, counted = Writer(root), Counted()
    devices: dict[str, None] = {}
    versions: dict[str, str] = {}
    for path in files:
        text = text_inside(folder, path) or ""
        own = path.relative_to(folder).as_posix()
        if _kind(text) == _OF_DYNAMO:
            counted.add("Dynamo program", len(text))
            writer.add(kept_text(own[-200:], text))
            continue
        graph = _name(path, own, counted.files[_AGAIN])
        counted.add(_AGAIN, len(text))
        nodes = runnable_nodes(graph, text)
        found = list(dict.fromkeys(value.device for node in nodes for value in node.values if value.device))
        devices.update(dict.fromkeys(found))
        inputs = sum(node.op == "placeholder" for node in nodes)
        writer.add(Graph(graph=graph, kind="inference", name=graph, inputs=inputs, device=", ".join(sorted(found))))
        for fact in (*nodes, *_symbols(graph, text)):
            writer.add(fact)
        writer.text(f"{paths.graph_folder(graph)}/{paths.FX_RUNNABLE}", text)
        if (version := _VERSION.search(text[:20_000])) is not None:
            versions["torch"] = version[1]
    finish(writer, counted.facts(_BECAME), origin, name, versions, main_device(devices))


def _name(path: Path, own: str, number: int) -> str:
    """torch's name of the graph, if that is the name of its folder, else one of the same form, as a replay has it."""
    if path.name == paths.FX_RUNNABLE and _TORCHS.fullmatch(path.parent.name):
        return path.parent.name
    stem = re.sub(r"\W", "_", own.removesuffix(".py"))[-80:]
    return f"{stem}___{number}.{number}"


def runnable_nodes(graph: str, text: str) -> list[Node]:
    """The nodes of the graph that such a program runs; only what comes in has its tensor, as the program makes it."""
    begin, end = _GRAPH.search(text), _INPUTS.search(text)
    if begin is None or end is None:
        return []
    given = dict(_inputs(text[end.end() : end.end() + _LOOKED_AT]))
    nodes = nodes_of(graph, "aot", text[begin.start() : end.start()])
    return [
        replace(node, values=(given[node.name],)) if node.op == "placeholder" and node.name in given else node
        for node in nodes
    ]


def _inputs(text: str) -> Iterator[tuple[str, Tensor]]:
    """Name of an input → its tensor."""
    devices: dict[str, str] = {}
    for line in text.split("\n"):
        found = _INPUT.fullmatch(line) if len(line) <= _LONGEST_LINE else None
        if found is None:
            if line.strip() and not line.startswith(" "):
                return
            continue
        try:
            call = ast.parse(found[2], mode="eval").body
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            continue
        if not isinstance(call, ast.Call):
            continue
        if found[1]:
            devices[found[1]] = _device(call)
        elif found[3] and (tensor := _tensor(call, devices)) is not None:
            yield found[3], tensor


def _device(call: ast.Call) -> str:
    """The device of `reader.storage(…, device=device(type='cuda', index=0))`."""
    for word in call.keywords:
        if word.arg == "device" and isinstance(word.value, ast.Call):
            values = [str(one.value.value) for one in word.value.keywords if isinstance(one.value, ast.Constant)]
            return ":".join(values)[:40]
    return "cpu"


def _tensor(call: ast.Call, devices: dict[str, str]) -> Tensor | None:
    """What `reader.tensor(buf0, (8, 4), dtype=torch.int64)` makes."""
    match call:
        case ast.Call(func=function, args=[ast.Name(id=buffer), ast.Tuple(elts=elements), *rest]):
            if dotted(function) != "reader.tensor":
                return None
        case _:
            return None
    size = tuple(_length(one) for one in elements)
    stride = numbers(rest[0], {}) if rest else None
    dtype = next((dotted(word.value) for word in call.keywords if word.arg == "dtype"), "torch.float32")
    name = dtype.rpartition(".")[2]
    known = [one if isinstance(one, int) else None for one in size]
    bytes_of = product([ITEM_BYTES.get(name), *known])
    return Tensor(name, size, stride or _contiguous(size), devices.get(buffer, ""), bytes_of)


def _length(node: ast.expr) -> int | str:
    found = number(node, {})
    return ast.unparse(node)[:100] if found is None else found


def _contiguous(size: tuple[int | str, ...]) -> tuple[int, ...]:
    """The strides that torch leaves out; empty where a size is a symbol."""
    strides: list[int] = []
    step = 1
    for length in reversed(size):
        if not isinstance(length, int) or step >= LARGEST:
            return ()
        strides.append(step)
        step *= max(length, 1)
    return tuple(reversed(strides))


def _symbols(graph: str, text: str) -> Iterator[Symbol]:
    """The symbols that the program gives a value."""
    for found in _HINT.finditer(text):
        yield Symbol(graph=graph, name=found[1], hint=found[2])
