"""Files of a dump that are none, lead out of it, or are named after what drawn elsewhere."""

import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from inspect_compile.dump import Dump, Writer
from inspect_compile.facts import Graph, Kernel, Location, Node, Run
from inspect_compile.graph import CompiledGraph
from inspect_compile.tui.models.chain import Chain
from inspect_compile.tui.models.source import source
from tests.hostile import dumps
from tests.hostile.views import said
from tests.hostile.watch import STEERS, look, watched
from tests.running import run

SECRET = "not for you\n"
GRAPH = "torchinductor/model__0_inference_0.0"
VIEWS = (
    "show summary",
    "show nodes --json",
    "show ranks",
    "finish",
    "draw",
    "tree",
    "run page",
    "program",
    "tui output",
)

PLACES = (
    *("run.json", "graphs.jsonl", "dynamo_nodes.jsonl", "script.log", ".finished", "torchinductor", GRAPH),
    *(f"{GRAPH}/nodes.jsonl", f"{GRAPH}/output_code.py", f"{GRAPH}/lowering.txt", f"{GRAPH}/kernels"),
    *("rank_0", "rank_0/run.json"),
)


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as server, pytest.MonkeyPatch.context() as patched:
        patched.chdir(path.parent)  # the name of a socket must be short
        server.bind(path.name)


def _unreadable(path: Path) -> None:
    path.write_text("{}\n")
    path.chmod(0)


def _circle(path: Path) -> None:
    path.symlink_to("a circle")
    path.with_name("a circle").symlink_to(path.name)


INSTEAD: dict[str, Callable[[Path], object]] = {
    "pipe": os.mkfifo,
    "socket": _socket,
    "folder": Path.mkdir,
    "device": lambda path: path.symlink_to("/dev/zero"),
    "terminal": lambda path: path.symlink_to("/dev/tty"),
    "own memory": lambda path: path.symlink_to("/proc/self/mem"),
    "itself": lambda path: path.symlink_to(path.name),
    "circle": _circle,
    "nothing": lambda path: path.symlink_to("/nowhere/at/all"),
    "secret": lambda path: path.symlink_to(_secret(path)),
    "secret, relative": lambda path: path.symlink_to(os.path.relpath(_secret(path), path.parent)),
    "folder of secrets": lambda path: path.symlink_to(_secret(path).parent),
    "unreadable": _unreadable,
    "array": lambda path: path.write_text("[]\n"),
    "null": lambda path: path.write_text("null\n"),
    "empty": Path.touch,
    "no text": lambda path: path.write_bytes(b"\xff\xfe\x00\n"),
    "deep": lambda path: path.write_text("[" * 1_000_000 + "\n"),
    "deep object": lambda path: path.write_text('{"a":' * 1_000_000 + "\n"),
}


def _secret(path: Path) -> Path:
    outside = next(above for above in path.parents if above.name == "inside").parent / "outside"
    return outside / "secret.txt"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A small dump, with secrets beside it in files of all the names that a dump has."""
    (tmp_path / "outside").mkdir()
    for place in ("secret.txt", *(Path(place).name for place in PLACES)):
        (tmp_path / "outside" / place).write_text(SECRET)
    (tmp_path / "inside").mkdir()
    return dumps.write(tmp_path / "inside" / "dump", dumps.recorded("draw/conditional"))


@pytest.mark.skipif(sys.platform == "win32", reason="no such files")
@pytest.mark.parametrize("instead", INSTEAD)
def test_only_plain_files_that_stand_in_it_are_read(root: Path, instead: str) -> None:
    for place in PLACES:
        path = root.parent / place.replace("/", "-") / "dump" / place
        dumps.write(root.parent / place.replace("/", "-") / "dump", dumps.recorded("draw/conditional"))
        if path.is_dir():
            path.rename(root.parent / f"{path.name} as it was")
        path.unlink(missing_ok=True)
        path.parent.mkdir(exist_ok=True)
        INSTEAD[instead](path)

        found = look(root.parent / place.replace("/", "-") / "dump", *VIEWS)

        assert SECRET.strip() not in "".join(found.values())
    assert all(path.read_text() == SECRET for path in (root.parents[1] / "outside").iterdir())


@pytest.mark.parametrize("name", ["../../../../outside/secret.txt", "/dev/zero", "\0", "x" * 5000, "\n", ".."])
def test_names_in_facts_lead_nowhere(root: Path, name: str) -> None:
    writer = Writer(root)
    for graph in ("model__0_inference_0.0", name, f"../{name}"):
        writer.add(Graph(graph=graph, kind="inference"))
        for path in (name, f"../{name}", str(root.parents[1] / "outside" / "secret.txt")):
            writer.add(Kernel(graph=graph, name="k", kind="triton", source=path, path=path))
    writer.flush()

    assert SECRET.strip() not in "".join(look(root).values())


def _told(tmp_path: Path, path: str, code: str) -> str:
    """What the source view shows of a file that a dump names, with a line that the dump says is its first."""
    writer = Writer(tmp_path / "dump")
    writer.run(Run(status="finished", cwd=str(tmp_path)))
    writer.add(Graph(graph="g", kind="inference"))
    node: dict[str, Any] = {"stage": "post_grad", "index": 0, "name": "n", "op": "call_function", "target": "t"}
    writer.add(Node(graph="g", where=Location(path, 1, "f", code), **node))
    writer.flush()
    dump = Dump(tmp_path / "dump")
    found = source(dump, Chain(CompiledGraph(dump, "g")), True)
    return "\n".join(found.plain(index) for index in range(len(found)))


def test_a_source_file_is_shown_only_where_the_dump_knows_what_is_in_it(tmp_path: Path) -> None:
    (tmp_path / "net.py").write_text("import torch\nsecret\n")
    (tmp_path / "notes.txt").write_text("import torch\nsecret\n")
    os.mkfifo(tmp_path / "pipe.py")
    (tmp_path / "net").symlink_to("net.py")

    assert "secret" in _told(tmp_path / "1", "../net.py", "import torch")
    assert "secret" not in _told(tmp_path / "2", "../net.py", "")
    assert "secret" not in _told(tmp_path / "3", "../net.py", "import os")
    assert "secret" not in _told(tmp_path / "4", "../notes.txt", "import torch")
    assert "secret" not in _told(tmp_path / "5", "../net", "import torch")
    for number, path in enumerate(("../pipe.py", "/dev/zero", "\0.py", "x" * 5000 + ".py", "..", "")):
        with watched(tmp_path):
            assert "import torch" in _told(tmp_path / f"other {number}", path, "import torch")


def test_the_derived_files_go_through_no_link(root: Path) -> None:
    target = root.parents[1] / "outside" / "secret.txt"
    names = ("lowering.txt", "fusion.txt", f".lowering.txt.{os.getpid()}.tmp", f".fusion.txt.{os.getpid()}.tmp")
    for name in names:
        (root / GRAPH / name).unlink(missing_ok=True)
        (root / GRAPH / name).symlink_to(target)
    (root / ".finished").symlink_to(target)

    for _ in range(3):
        look(root, "finish", "draw")

    assert target.read_text() == SECRET


@pytest.mark.parametrize("name", ["\x1b[31mred", "two\nlines", "\u202eback", "-rf", "[bold]", "$(id)"])
def test_the_name_of_a_dump_steers_nothing(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / name).mkdir()
    (tmp_path / name / "run.json").write_text("[]")
    monkeypatch.chdir(tmp_path)

    for words in (["show"], ["show", f"./{name}"], ["draw", f"./{name}"], ["show", "gone"], ["show", f"{name}/gone"]):
        found = said(*words)
        assert found.status == 2
        assert len(found.err.splitlines()) == 1
        assert STEERS.search(found.err) is None


def test_nothing_that_stands_in_it_is_imported(tmp_path: Path) -> None:
    """Not even where a person goes into the dump, and calls the command there."""
    root = dumps.write(tmp_path / "dump", dumps.recorded("draw/conditional"))
    trap = "import os, pathlib; pathlib.Path(__file__).with_suffix('.ran').touch()\n"
    for name in (
        "torch",
        "rich",
        "msgspec",
        "textual",
        "graphviz",
        "pygments",
        "sitecustomize",
        "json",
        "inspect_compile",
    ):
        (root / f"{name}.py").write_text(trap)
    script = tmp_path / "bin" / "inspect-compile"
    script.parent.mkdir()
    script.write_text("import sys\nfrom inspect_compile.commands import main\nsys.exit(main())\n")

    for words in (["show"], ["show", "nodes", "--json"], ["draw"], ["diff", ".", "."], ["doctor"]):
        done = run([sys.executable, script, *words], root)
        assert "Traceback" not in done.stderr

    assert not list(root.rglob("*.ran"))
