"""`share`: what a person puts into a public issue."""

import getpass
import json
import os
import re
import socket
import subprocess
import zipfile
from pathlib import Path

import msgspec
import pytest

from inspect_compile.analysis.lowering.operations import Operations
from inspect_compile.commands import main
from inspect_compile.dump import Dump, find_dumps, paths
from inspect_compile.facts import FACTS, Frame, Kernel, Location, Node, Run
from inspect_compile.graph import CompiledGraph
from inspect_compile.tables import TABLES
from inspect_compile.tui.app import InspectApp
from tests.conftest import DumpOf, run_once
from tests.disks import small_disk
from tests.handmade import GRAPH, at, ended, graph, kernel, lowered, made, node
from tests.running import COMMAND, inspected, run
from tests.tui.driving import go_to, press, said, settled

Capture = pytest.CaptureFixture[str]
DATA = Path(__file__).resolve().parents[1] / "data"

PROGRAM = """
import sys
import torch

@torch.compile
def grow(x):
    y = torch.relu(x) * 3.25
    print("by zebulon")
    return y.cumsum(0)

@torch.compile(fullgraph=True)
def fail(x):
    print("this line is not traced")

class ZebulonNet(torch.nn.Linear):
    pass

grow(ZebulonNet(8, 4)(torch.ones(8)).detach())
try:
    fail(torch.ones(8))
except Exception:
    pass
raise RuntimeError(f"no access to {sys.argv[2]} and {__file__} for zebulon at 10.1.2.3")
"""
SECRETS = ("zebulon/", "/home/", "acme", "10.1.2.3", "by zebulon", "+dynamic_secret")
LINES = ("torch.relu(x) * 3.25", "y.cumsum(0)", "fail(torch.ones(8))")


@pytest.fixture(scope="session")
def recorded(shared_folder: Path, inductor_cache: Path) -> Path:
    """A dump of a program in somebody's home, that tells all about that person."""
    machine = shared_folder / "machine"
    folder = machine / "home" / "zebulon" / "acme-llama"
    variables = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache), "TORCH_PREFERENCE": "+dynamic_secret"}

    def record(_: Path) -> subprocess.CompletedProcess[str]:
        (folder / "my src").mkdir(parents=True)
        (folder / "my src" / "train.py").write_text(PROGRAM)
        words = ["my src/train.py", "--data", "/data/acme/x.csv", "--name=acme_llama2"]
        result = inspected(words, folder, environment=variables)
        (folder / "dump" / paths.SCRIPT_LOG).write_text("all that zebulon printed")
        return result

    result = run_once(machine, record)
    assert "RuntimeError: no access" in result.stderr
    return folder / "dump"


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")


def share(*words: str | Path) -> int:
    return main(["share", *map(str, words)])


def errors(capsys: Capture, *words: str | Path) -> str:
    """What stderr says where the status is 2 and stdout is empty."""
    assert share(*words) == 2
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.count("\n") == 1
    return told.err


def extracted(file: Path, into: Path) -> Path:
    """The one folder in the zip."""
    with zipfile.ZipFile(file) as archive:
        assert archive.testzip() is None
        archive.extractall(into)
    (folder,) = into.iterdir()
    return folder


def contents(root: Path) -> dict[str, bytes]:
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_as_it_is(recorded: Path, tmp_path: Path, capsys: Capture) -> None:
    assert share(recorded, "-o", "a.zip") == 0
    told = capsys.readouterr().out

    found = contents(extracted(Path("a.zip"), tmp_path / "out"))
    assert json.loads(found.pop(paths.SHARED))["redacted"] is False
    assert found == contents(recorded)
    assert told.startswith("a.zip   ")
    assert "--redact" in told
    assert "--no-source" in told


def test_redacted(recorded: Path, tmp_path: Path, capsys: Capture) -> None:
    assert share(recorded, "-o", "a.zip", "--redact") == 0
    told = capsys.readouterr().out
    root = extracted(Path("a.zip"), tmp_path / "out")

    whole = "\n".join(f"{name}\n{data.decode()}" for name, data in contents(root).items())
    assert [secret for secret in SECRETS if secret in f"{whole}{told}"] == []
    assert not re.search(r"\bzebulon", f"{whole}{told}")
    assert str(tmp_path.parent) not in whole
    user, host = getpass.getuser(), socket.gethostname()
    assert user == "root" or not re.search(rf"\b{user}\b", whole)
    assert host == "localhost" or not re.search(rf"\b{re.escape(host)}\b", whole)
    for expected in ("~program/train.py", "~address-1", "ZebulonNet", "3.25", "torch.relu(x)"):
        assert expected in whole
    dump = Dump(root)
    assert dump.run.argv == ("train.py", "~3 arguments")
    assert dump.run.cwd == "~cwd"
    assert dump.run.environment["TORCH_PREFERENCE"] == "~value"
    assert dump.run.exception == "RuntimeError: no access to ~dir-1 and ~program/train.py for USER at ~address-1"
    for kind in ("paths", "arguments", "user names", "values of variables", "logs of what the program printed"):
        assert kind in told
    assert "the user's name is a part of longer words" in told


def test_redacted_tables_say_the_same(recorded: Path, tmp_path: Path) -> None:
    assert share(recorded, "-o", "a.zip", "--redact") == 0
    before, after = Dump(recorded), Dump(extracted(Path("a.zip"), tmp_path / "out"))

    assert after.graphs() == before.graphs()
    for kind in FACTS:
        rows = list(zip(before.rows(kind), after.rows(kind), strict=True))
        for old, new in rows:
            for field in kind.__struct_fields__:
                if getattr(old, field) != getattr(new, field):
                    assert re.search("zebulon|/", repr(getattr(old, field))), (kind, field, new)
                    assert re.search(r"~[a-z]+|USER", repr(getattr(new, field))), (kind, field, new)
    lines = [row.where for row in after.as_recorded().rows(Node) if row.where is not None]
    assert lines == [
        msgspec.structs.replace(row.where, file="~program/train.py")
        for row in before.as_recorded().rows(Node)
        if row.where
    ]
    assert after.damaged == 0


@pytest.mark.parametrize("options", [[], ["--redact"], ["--redact", "--no-source"]])
def test_every_command_opens_it(recorded: Path, tmp_path: Path, options: list[str], capsys: Capture) -> None:
    assert share(recorded, "-o", "a.zip", *options) == 0
    root = extracted(Path("a.zip"), tmp_path / "out")
    for table in TABLES:
        assert main(["show", str(root), table]) == 0, table
        assert main(["show", str(root), table, "--json"]) == 0, table
    assert main(["draw", str(root), "--format", "dot"]) == 0
    assert "Traceback" not in capsys.readouterr().err
    assert main(["diff", str(root), str(recorded), "--json"]) == ("--redact" in options)
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["kind"] for row in found] == ["settings"] * ("--redact" in options)
    assert (root / paths.FINISHED).exists()


@pytest.mark.parametrize("options", [["--redact"], ["--redact", "--no-source"]])
async def test_the_tui_opens_it(recorded: Path, tmp_path: Path, options: list[str]) -> None:
    assert share(recorded, "-o", "a.zip", *options) == 0
    async with InspectApp(Dump(extracted(Path("a.zip"), tmp_path / "out"))).run_test(size=(200, 60)) as pilot:
        await press(pilot, "2")
        go_to(pilot, "fx-rows", "relu ")
        await settled(pilot)
        file = r"name\d+x\.py" if "--no-source" in options else r"train\.py"
        assert re.search(rf" relu · {file}:7 ·", said(pilot, "context"))


def test_no_source(recorded: Path, tmp_path: Path, capsys: Capture) -> None:
    assert share(recorded, "-o", "a.zip", "--no-source") == 0
    told = capsys.readouterr().out
    root = extracted(Path("a.zip"), tmp_path / "out")
    found = contents(root)

    before = "\n".join(data.decode() for data in contents(recorded).values())
    whole = "\n".join(data.decode() for data in found.values())
    assert [line for line in LINES if line not in before] == []
    assert [line for line in LINES if line in whole] == []
    assert str(recorded.parent) not in whole
    dump = Dump(root)
    assert {row.where.line for row in dump.rows(Node) if row.where} == {
        row.where.line for row in Dump(recorded).rows(Node) if row.where
    }
    assert any(row.lines for row in dump.rows(Kernel))
    code = f"torchinductor/{dump.graphs()[0].graph}/output_code.py"
    assert found[code].count(b"\n") == contents(recorded)[code].count(b"\n")
    assert "source lines" in told


@pytest.mark.parametrize("options", [[], ["--redact"], ["--no-source"]])
def test_texts_of_nested_graphs_go_along(dump_of: DumpOf, tmp_path: Path, options: list[str], capsys: Capture) -> None:
    recorded = dump_of("conditional").dump
    assert share(recorded, "-o", "a.zip", *options) == 0
    assert "not part of a dump" not in capsys.readouterr().out
    old, new = Dump(recorded), Dump(extracted(Path("a.zip"), tmp_path / "out"))

    (graph,) = (row.graph for row in old.outermost())
    before, after = (Operations(CompiledGraph(dump, graph)) for dump in (old, new))
    nested = [(row, copied) for row, copied in zip(before.rows, after.rows, strict=True) if "/" in row.graph]
    assert len({row.graph for row, _ in nested}) == 2
    for row, copied in nested:
        assert before.body(row)
        assert len(after.body(copied)) == len(before.body(row))


def test_the_summary_says_that_it_was_shared(recorded: Path, tmp_path: Path, capsys: Capture) -> None:
    assert share(recorded, "-o", "a.zip", "--redact", "--no-source") == 0
    root = extracted(Path("a.zip"), tmp_path / "out")
    capsys.readouterr()

    assert main(["show", str(root)]) == 0
    assert re.search(r"Shared, without paths, .*user names.* and source lines", capsys.readouterr().out)


def test_shared_again_it_is_the_same(recorded: Path, tmp_path: Path) -> None:
    assert share(recorded, "-o", "a.zip", "--redact") == 0
    root = extracted(Path("a.zip"), tmp_path / "out")
    again = tmp_path / "again"
    again.mkdir()
    assert share(root, "-o", again / "a.zip", "--redact") == 0
    second = extracted(again / "a.zip", again / "out")

    first, found = contents(root), contents(second)
    assert json.loads(found.pop(paths.SHARED))["removed"] == json.loads(first.pop(paths.SHARED))["removed"]
    assert found == first


@pytest.mark.parametrize("options", [[], ["--redact", "--no-source"]])
def test_the_same_dump_gives_the_same_bytes(recorded: Path, options: list[str]) -> None:
    os.mkdir("first")
    os.mkdir("second")
    for folder in ("first", "second"):
        assert share(recorded, "-o", f"{folder}/a.zip", *options) == 0

    assert Path("first/a.zip").read_bytes() == Path("second/a.zip").read_bytes()


@pytest.mark.parametrize("name", ["h200-torch-2.11/softmax_mlp", "h200-torch-2.11/user_triton_kernel", "tui/mixed"])
def test_recorded_elsewhere(name: str, tmp_path: Path, capsys: Capture) -> None:
    assert share(DATA / name, "-o", "a.zip", "--redact", "--no-source") == 0
    root = extracted(Path("a.zip"), tmp_path / "out")
    old, new = Dump(DATA / name), Dump(root)

    assert new.graphs() == old.graphs()
    kernels = {(before.name, after.name) for before, after in zip(old.rows(Kernel), new.rows(Kernel), strict=True)}
    nodes = {(before.name, after.name) for before, after in zip(old.rows(Node), new.rows(Node), strict=True)}
    for names in (kernels, nodes):
        assert len({before for before, _ in names}) == len({after for _, after in names}) == len(names)
        assert all(before == after or re.search(r"name\d+x", after) for before, after in names)
    assert all(not row.where.code for row in new.rows(Node) if row.where)
    assert all((root / paths.graph_folder(row.graph) / row.source).exists() for row in new.rows(Kernel) if row.source)
    capsys.readouterr()
    assert main(["show", str(root), "kernels"]) == 0


def test_a_triton_kernel_of_the_program_goes_with_its_names(tmp_path: Path) -> None:
    """Its source, from generated code and from the program that repeats the graph, and the names of its arguments."""
    name = "h200-torch-2.11/user_triton_kernel"
    before = b"".join(contents(DATA / name).values())
    assert share(DATA / name, "-o", "a.zip", "--no-source") == 0
    whole = b"".join(contents(extracted(Path("a.zip"), tmp_path / "out")).values())

    for text in (b"blend_kernel", b"x_ptr", b"offsets < n", b"weight * x", b"user_triton_kernel"):
        assert text in before
        assert text not in whole
    assert b"tl.load(in_ptr0 + (x0), xmask)" in whole


def test_without_names_it_takes_the_newest_dump_and_is_named_after_it(tmp_path: Path, capsys: Capture) -> None:
    made(tmp_path / "net", graph(), node("x"))

    assert share() == 0
    assert share("--redact") == 0

    assert sorted(path.name for path in tmp_path.glob("*.zip")) == ["net-redacted.zip", "net.zip"]
    assert "net-redacted.zip" in capsys.readouterr().out
    names = ("shared.json", "graphs.jsonl", "run.json", f"torchinductor/{GRAPH}/nodes.jsonl")
    assert zipfile.ZipFile("net.zip").namelist() == [f"net/{name}" for name in names]
    os.mkdir("folder")
    assert share("net", "-o", "folder") == 0
    assert Path("folder/net.zip").exists()


def test_json_says_what_was_written(tmp_path: Path, capsys: Capture) -> None:
    made(tmp_path / "net", graph(), run=Run(status="finished", argv=("a.py", "x"), cwd="/home/zebulon"))

    assert share("net", "-o", "a.zip", "--redact", "--json") == 0

    told = json.loads(capsys.readouterr().out)
    assert (told["fact"], told["file"], told["redacted"]) == ("shared_file", "a.zip", True)
    assert told["bytes"] == Path("a.zip").stat().st_size
    assert {row["what"]: row["count"] for row in told["removed"]} == {"arguments": 1, "paths": 1}


def test_a_file_that_is_there_stays(tmp_path: Path, capsys: Capture) -> None:
    made(tmp_path / "net", graph())
    Path("a.zip").write_text("mine")
    Path("b.zip").symlink_to("nowhere")

    for name in ("a.zip", "b.zip"):
        assert f"{name}: already exists" in errors(capsys, "net", "-o", name)
    assert Path("a.zip").read_text() == "mine"
    assert not Path("nowhere").exists()


def test_a_place_that_cannot_be_written(tmp_path: Path, capsys: Capture) -> None:
    made(tmp_path / "net", graph())

    assert "cannot be written" in errors(capsys, "net", "-o", "no/such/a.zip")
    assert "no such folder" in errors(capsys, "net", "-o", "no/such/")
    assert "no such dump" in errors(capsys, "nothing")
    assert "not a dump but a file" in errors(capsys, "net/graphs.jsonl")


@pytest.mark.parametrize(("options", "place"), [((), "output"), (("--redact",), "TMPDIR")])
def test_a_full_disk_leaves_no_half_zip(tmp_path: Path, options: tuple[str, ...], place: str) -> None:
    root = tmp_path / "net"
    made(root, graph())
    noise = os.urandom(300_000).hex(" ", 4)  # words, which are no encoding of anything
    (root / paths.GRAPHS / GRAPH).mkdir(parents=True)
    (root / paths.GRAPHS / GRAPH / f"{paths.OUTPUT_CODE}.py").write_text(noise)
    with small_disk(tmp_path / "disk", 64) as disk:
        output = disk / "a.zip" if place == "output" else tmp_path / "a.zip"
        environment = {"TMPDIR": str(disk)} if place == "TMPDIR" else {}
        result = run([*COMMAND, "share", root, "-o", output, *options], tmp_path, environment=environment)
        left = [*disk.iterdir(), *tmp_path.glob("*.zip")]

    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert "No space left on device" in result.stderr
    assert left == []


def test_a_strangers_dump_is_not_followed(tmp_path: Path, capsys: Capture) -> None:
    outside = tmp_path / "outside"
    made(outside / "rank_1", graph(name="secret"))
    (outside / "secret.txt").write_text("secret")
    root = tmp_path / "net"
    made(root, graph(), node("x"), kernel("cpp_a", "op0", source="kernels/cpp_a/source.cpp"))
    folder = root / paths.GRAPHS / GRAPH
    (root / "dynamo.jsonl").symlink_to(outside / "secret.txt")
    (root / "rank_1").symlink_to(outside / "rank_1")
    (folder / "ir_pre_fusion.txt").symlink_to(outside / "secret.txt")
    (root / paths.GRAPHS / "g").symlink_to(outside)
    (folder / "kernels").mkdir()
    (folder / "kernels" / "k").symlink_to(outside)
    (folder / "kernels" / "..\\..\\evil").mkdir()
    (folder / "kernels" / "..\\..\\evil" / "source.py").write_text("evil")
    (folder / "kernels" / "cpp_a").mkdir()
    (folder / "kernels" / "cpp_a" / "C:evil.py").write_text("evil")
    (root / "notes.txt").write_text("a person's own notes")
    os.mkfifo(root / "guards.jsonl")

    for options in ((), ("--redact",)):
        assert share(root, "-o", "a.zip", *options) == 0
        told = capsys.readouterr().out
        names = zipfile.ZipFile("a.zip").namelist()
        whole = b"".join(map(zipfile.ZipFile("a.zip").read, names))
        assert not any(word in whole for word in (b"secret", b"evil", b"own notes"))
        assert all(re.fullmatch(r"a(/[\w+-][\w.+-]*|/\.finished)+", name) for name in names), names
        assert "links" in told
        assert "files that are not part of a dump" in told
        os.remove("a.zip")


def test_names_and_texts_that_lead_elsewhere(tmp_path: Path) -> None:
    """What a stranger's facts say of places is text, never a place to write to."""
    where = Location("/home/zebulon/../../etc/passwd", 1, "f", "x")
    made(
        tmp_path / "net",
        graph("../../evil"),
        Frame(graph="0/0", function="f", file="../../a.py", line=1, status="compiled", caller=where),
    )

    assert share("net", "-o", "a.zip", "--redact") == 0

    assert all(".." not in name for name in zipfile.ZipFile("a.zip").namelist())
    assert "zebulon" not in zipfile.ZipFile("a.zip").read("a/dynamo.jsonl").decode()


def test_the_zips_folder_tells_no_name(tmp_path: Path) -> None:
    made(tmp_path / "of-zebulon", graph(), run=Run(cwd="/home/zebulon/x"))

    assert share("of-zebulon", "--redact") == 0

    assert [path.name for path in tmp_path.glob("*.zip")] == ["of-USER-redacted.zip"]


def test_kernels_that_are_named_after_a_user_keep_their_source(tmp_path: Path) -> None:
    name = "zebulon_kernel_0"
    made(
        tmp_path / "net",
        graph(),
        lowered("x"),
        kernel(name, "op0", source=f"kernels/{name}/source.py", lines=(at(3, "zebulon()"),)),
        ended(GRAPH),
        run=Run(cwd="/home/zebulon/x"),
    )
    source = tmp_path / "net" / paths.GRAPHS / GRAPH / "kernels" / name / "source.py"
    source.parent.mkdir(parents=True)
    source.write_text("def zebulon_kernel(): ...")

    assert share("net", "-o", "a.zip", "--redact") == 0

    root = extracted(Path("a.zip"), tmp_path / "out")
    (found,) = Dump(root).rows(Kernel)
    assert found.source == "kernels/USER_kernel_0/source.py"
    assert Dump(root).text(GRAPH, found.source) == "def USER_kernel(): ..."


def test_all_ranks_go_along(tmp_path: Path) -> None:
    made(tmp_path / "net", run=Run(argv=("torchrun", "/home/zebulon/a.py"), cwd="/home/zebulon"))
    for rank in range(2):
        run_of = Run(argv=("/home/zebulon/a.py",), cwd="/home/zebulon", rank=rank)
        made(tmp_path / "net" / paths.rank_folder(rank), graph(), node("x"), run=run_of)

    assert share("net", "-o", "a.zip", "--redact") == 0

    root = extracted(Path("a.zip"), tmp_path / "out")
    parts = Dump(root).other_processes
    assert [part.name for part in parts] == ["rank_0", "rank_1"]
    assert [Dump(part).run.cwd for part in parts] == ["~program", "~program"]
    assert find_dumps(tmp_path / "out") == [root]
    assert main(["show", str(root), "ranks"]) == 0


def test_what_cannot_be_read_is_left_out(tmp_path: Path, capsys: Capture) -> None:
    root = tmp_path / "net"
    cubin = kernel("k", "op0", source="kernels/k/source.py")
    made(root, graph(), node("x"), cubin, run=Run(cwd="/home/zebulon/acme"))
    folder = root / paths.GRAPHS / GRAPH
    with open(folder / "nodes.jsonl", "ab") as file:
        file.write(b'{"a":' * 900 + b"1" + b"}" * 900 + b"\n")
        file.write(b"[" * 100_000 + b'\n"zebulon \xff"\n{"fact":"node","graph":"/home/zebu')
    (folder / "kernels" / "k").mkdir(parents=True)
    (folder / "kernels" / "k" / "k.cubin").write_bytes(b"\x7fELF\0/home/zebulon\xff")
    (folder / "kernels" / "k" / "source.py").write_text("# /home/zebulon/a.py\n")

    assert share(root, "-o", "a.zip", "--redact") == 0

    told = capsys.readouterr().out
    assert re.search(r"binary files +1", told)
    assert re.search(r"unreadable lines +4", told)
    names = zipfile.ZipFile("a.zip").namelist()
    assert [name for name in names if "/kernels/" in name] == [f"a/torchinductor/{GRAPH}/kernels/k/source.py"]
    assert zipfile.ZipFile("a.zip").read(f"a/torchinductor/{GRAPH}/kernels/k/source.py") == b"# ~home/a.py\n"


def test_a_damaged_run_json_is_one_line(tmp_path: Path, capsys: Capture) -> None:
    made(tmp_path / "net", graph())
    (tmp_path / "net" / paths.RUN).write_text("{")

    assert "not a run.json" in errors(capsys, "net", "--redact")
    assert not list(tmp_path.glob("*.zip"))


@pytest.mark.parametrize("redact", [(), ("--redact",)])
def test_kept_inputs_go_along_only_if_asked_for(redact: tuple[str, ...], tmp_path: Path, capsys: Capture) -> None:
    name = paths.inputs_file(GRAPH, 1)
    kept = made(tmp_path / "dump", graph(), ended()).root / name
    kept.parent.mkdir(parents=True)
    kept.write_bytes(bytes(range(256)))

    assert main(["share", str(tmp_path / "dump"), "-o", str(tmp_path / "without.zip"), *redact]) == 0
    assert "inputs of wrong launches (--inputs puts them in)" in capsys.readouterr().out
    assert main(["share", str(tmp_path / "dump"), "-o", str(tmp_path / "with.zip"), "--inputs", *redact]) == 0
    assert "inputs and weights of the program are in it" in capsys.readouterr().out

    with zipfile.ZipFile(tmp_path / "without.zip") as archive:
        assert not [file for file in archive.namelist() if file.endswith(".pt")]
    with zipfile.ZipFile(tmp_path / "with.zip") as archive:
        assert archive.read(f"with/{name}") == bytes(range(256))


GUARDED = """
import os
import sys

import torch

sys.path.insert(0, sys.argv[1])
import guarded_net

os.environ["PARTNER"] = "hunter-initech"
modes = {"mode": "hunter-mode"}

@torch.compile
def f(x, kind="hunter-kind"):
    if os.environ.get("PARTNER") == "nobody" or modes["mode"] == "a" or kind == "b":
        return x
    return x + 1

f(torch.ones(8))
f(torch.ones(8), kind="hunter-other")
modes["mode"] = "hunter-next"
f(torch.ones(9))
guarded_net.g(torch.ones(8))
"""
NET = "import torch\n\n@torch.compile\ndef g(x):\n    return x.sin() + 1\n"


def test_values_and_directories_in_guards_go(tmp_path: Path) -> None:
    """Of variables of the environment, globals and arguments; of a module that is in a directory of its own."""
    (tmp_path / "hunter-merger").mkdir()
    (tmp_path / "hunter-merger" / "guarded_net.py").write_text(NET)
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "net.py").write_text(GUARDED)
    inspected(["net.py", tmp_path / "hunter-merger"], tmp_path / "work")
    assert "hunter-initech" in "".join(
        path.read_text("utf-8", "replace") for path in (tmp_path / "work" / "dump").rglob("*.jsonl")
    )

    assert (
        main(["share", str(tmp_path / "work" / "dump"), "--redact", "--no-source", "-o", str(tmp_path / "a.zip")]) == 0
    )

    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        texts = {name: archive.read(name).decode() for name in archive.namelist()}
    assert [name for name, text in texts.items() if "hunter" in text] == []
