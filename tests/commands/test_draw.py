"""`draw`: where it writes what, and what it says when it cannot."""

import os
import re
import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from inspect_compile.commands import main
from tests.conftest import TESTS, DumpOf
from tests.diagrams.transformer import GRAPH, write_transformer
from tests.handmade import graph, line, lowered, made, operation
from tests.running import COMMAND, run

DATA = TESTS / "data" / "draw"
FOLDER = Path("torchinductor/model__0_inference_0.0")

needs_dot = pytest.mark.skipif(shutil.which("dot") is None, reason="needs the program dot (Graphviz)")


@pytest.fixture
def dump(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy to write into, with the current directory beside it."""
    shutil.copytree(DATA / "conditional", tmp_path / "dump")
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    return tmp_path / "dump"


def drawn(capsys: pytest.CaptureFixture[str], *words: object) -> list[Path]:
    """The files that the command names."""
    assert main(["draw", *map(str, words)]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    return [Path(line) for line in out.splitlines()]


def refused(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    """The one line that the command ends with."""
    assert main(["draw", *map(str, words)]) == 2
    err = capsys.readouterr().err
    assert err.startswith("inspect-compile: ")
    assert err.count("\n") == 1
    return err.removeprefix("inspect-compile: ").rstrip("\n")


@needs_dot
def test_both_phases_go_into_the_dump(dump: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = drawn(capsys, dump, "schedule")
    assert paths == [dump / FOLDER / f"schedule_{phase}.svg" for phase in ("pre_fusion", "post_fusion")]
    for path in paths:
        assert ET.parse(path).getroot().tag.endswith("svg")
        assert path.with_suffix(".dot").read_text().startswith("//")
    assert not [path for path in (dump / FOLDER).iterdir() if path.name.startswith(".")]


@needs_dot
def test_a_recorded_program(dump_of: DumpOf, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    paths = drawn(capsys, dump_of("training_step").dump, "-o", f"{tmp_path}/")
    assert [path.name for path in paths] == [
        f"{graph}_schedule_{phase}.svg"
        for graph in ("model__0_forward_1.0", "model__0_backward_3.1", "model__1_inference_4.2")
        for phase in ("pre_fusion", "post_fusion")
    ]
    assert all(path.parent == tmp_path and path.stat().st_size for path in paths)


def test_the_newest_dump_is_taken(
    dump: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(dump.parent)
    assert drawn(capsys, "schedule", "--format", "dot", "--phase", "after") == [
        Path("dump") / FOLDER / "schedule_post_fusion.dot"
    ]


@needs_dot
@pytest.mark.parametrize(
    ("name", "start"), [("a.svg", b"<svg"), ("a.png", b"\x89PNG"), ("a.dot", b"//"), ("a.pdf", b"%PDF")]
)
def test_one_file(dump: Path, name: str, start: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    assert drawn(capsys, dump, "-o", name) == [Path(name)]
    assert Path(name).read_bytes().startswith(start)


@needs_dot
def test_a_nested_graph_alone(dump: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (path,) = drawn(capsys, dump, "--graph", "model__0_inference_0.0/true_graph_0", "--phase", "after")
    assert path.name == "true_graph_0_schedule_post_fusion.svg"
    assert "cpp_fused_gt_sum_0" not in path.read_text()


def test_a_part_does_not_replace_the_whole(dump: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = (dump, "--around", "op1", "--depth", 0, "--phase", "after", "--format", "dot")
    assert [path.name for path in drawn(capsys, *words)] == ["schedule_post_fusion_around_op1.dot"]


def test_a_link_in_the_dump_is_not_followed(dump: Path, capsys: pytest.CaptureFixture[str]) -> None:
    mine = dump.parent / "mine.txt"
    mine.write_text("mine")
    (dump / FOLDER / "schedule_post_fusion.dot").symlink_to(mine)
    drawn(capsys, dump, "--phase", "after", "--format", "dot")
    assert mine.read_text() == "mine"


def test_a_folder_that_leads_out_of_the_dump_is_not_written(dump: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (dump / FOLDER).rename(dump.parent / "elsewhere")
    (dump / FOLDER).symlink_to(dump.parent / "elsewhere")
    assert main(["draw", str(dump), "--format", "dot"]) == 2
    assert "nothing to draw, no operations were recorded before fusion" in capsys.readouterr().err
    assert not list((dump.parent / "elsewhere").glob("*.dot"))


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_dump_that_cannot_be_written_is_drawn_here(dump: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (dump / FOLDER).chmod(0o555)
    try:
        paths = drawn(capsys, dump, "--phase", "after", "--format", "dot")
    finally:
        (dump / FOLDER).chmod(0o755)
    assert paths == [Path("model__0_inference_0.0_schedule_post_fusion.dot")]


def test_without_dot_the_dot_files_are_written(
    dump: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert refused(capsys, dump) == (
        "dot is not installed; install Graphviz (apt-get install graphviz, or brew install graphviz); "
        "the .dot files are written"
    )
    assert len(list((dump / FOLDER).glob("*.dot"))) == 2
    assert not list((dump / FOLDER).glob("*.svg"))


@needs_dot
def test_a_time_limit(dump: Path, capsys: pytest.CaptureFixture[str]) -> None:
    line = refused(capsys, dump, "--timeout", "0.001")
    assert line.startswith("dot did not finish in 0.001 s; draw a part with --around NODE --depth 2")
    assert line.endswith("the .dot files are written")


def test_errors(dump: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert refused(capsys, dump, "zz").endswith(
        "no such diagram as zz; there are: schedule, fusion, fx, kernel, node, dynamo, memory, roofline, timeline, "
        "startup, ranks"
    )
    assert refused(capsys, dump, "kernel") == "draw kernel: which kernel? draw [DUMP] kernel KERNEL"
    assert "too many words; draw [DUMP] node NODE" in refused(capsys, dump, "node", "add", "mul")
    assert "draw fx takes no --heat: that option is for schedule" in refused(capsys, dump, "fx", "--heat", "time")
    assert "--around and --path choose different parts" in refused(
        capsys, dump, "--around", "op0", "--path", "op0", "op1"
    )
    assert "zz: no kernel of this name" in refused(capsys, dump, "kernel", "zz")
    assert "zz: no node matches" in refused(capsys, dump, "node", "zz")
    assert "no such dump" in refused(capsys, "nowhere")
    assert "--graph zz: no such graph; there are: model__0_inference_0.0" in refused(capsys, dump, "--graph", "zz")
    assert refused(capsys, dump, "-o", "x.jpg").endswith("no such format; there are: svg, png, pdf, dot")
    assert "2 diagrams" in refused(capsys, dump, "-o", "x.svg", "--phase", "both")
    assert "zz: no operation matches in model__0_inference_0.0; " in refused(capsys, dump, "--around", "zz")
    assert "cannot be written" in refused(capsys, dump, "-o", dump / "run.json" / "x.svg", "--format", "dot")


def test_a_dump_without_graphs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made(tmp_path)
    assert "no graph is recorded" in refused(capsys, tmp_path)


def test_many_graphs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    names = [f"model__{number}" for number in range(12)]
    made(
        tmp_path,
        *(graph(name) for name in names),
        *(operation("op0", reads={}, writes={"buf0": 4}, graph=name) for name in names),
    )
    assert "12 graphs; choose one with --graph (model__0, model__1" in refused(capsys, tmp_path)
    words = (tmp_path, "--graph", "all", "--format", "dot", "--phase", "after")
    assert len(drawn(capsys, *words)) == 12


def test_a_phase_that_was_not_recorded_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made(tmp_path, graph(), operation("op0", reads={}, writes={"buf0": 4}))
    assert main(["draw", str(tmp_path), "--format", "dot"]) == 0
    out, err = capsys.readouterr()
    assert err == "model__0_forward_1.0: no operations were recorded before fusion\n"
    assert out.splitlines() == [str(tmp_path / "torchinductor/model__0_forward_1.0/schedule_post_fusion.dot")]


@needs_dot
def test_gpt2_s_schedule_takes_seconds(tmp_path: Path) -> None:
    """A wide margin: benchmarks/bench_draw.py measures."""
    write_transformer(tmp_path / "dump", 12)
    result = run([*COMMAND, "draw", "dump", "--timeout", "20"], tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    assert (tmp_path / "dump/torchinductor" / GRAPH / "schedule_post_fusion.svg").exists()


def test_what_can_be_drawn_is_listed(dump: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["draw", str(dump), "--list"]) == 0
    head, *lines = capsys.readouterr().out.splitlines()
    assert head.split() == ["graph", "draw", "what", "there", "is"]
    told = {line.split("  ")[1].strip(): line.rpartition("  ")[2] for line in lines}
    assert told["schedule, after fusion"].endswith("scheduler nodes")
    assert told["schedule --heat bytes"] == "yes"
    assert told["schedule --heat error"] == "not recorded"
    assert not list(dump.rglob("*.svg"))


def test_heat_says_which_values_a_colour_is(dump: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (file,) = drawn(capsys, dump, "--heat", "bytes", "-o", "heat.dot")
    text = file.read_text()
    assert "colour: bytes read and written, each element once, of each launch" in text
    assert re.search(r"[\d.]+ k?B to [\d.]+ k?B", text)
    assert main(["draw", str(dump), "--heat", "registers"]) == 2
    assert "nothing to draw, no Triton kernel was compiled" in capsys.readouterr().err


def test_folded_on_request(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_transformer(tmp_path / "dump", 12)
    boxes = {}
    for option in ("--fold", "--unfold"):
        (file,) = drawn(capsys, tmp_path / "dump", option, "-o", tmp_path / "one.dot")
        boxes[option] = file.read_text().count("tooltip=")
    assert boxes["--fold"] * 4 < boxes["--unfold"]


def test_memory_is_drawn_without_graphviz(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", "")
    name = "<b>&\x1b[31m"
    made(
        tmp_path / "dump",
        graph(),
        lowered("add", "aten.add.Tensor", buffers=(name,)),
        line(0, "allocate", buffer=name, bytes=4_000),
        line(1, "allocate", buffer="buf1", bytes=8_000),
        line(2, "free", buffer="buf1"),
    )

    (path,) = drawn(capsys, tmp_path / "dump", "memory", "-o", tmp_path / "picture.svg")

    text = path.read_text()
    words = [found.text or "" for found in ET.fromstring(text).iter() if found.tag.endswith(("text", "title"))]
    assert "peak of this call 12 kB above its start, at line 101 of the output code" in words
    assert any("<b>&" in word for word in words)
    assert "\x1b" not in text
    assert text.count("<title>") == 2
    assert "memory is a chart: --format svg, png or pdf" in refused(
        capsys, tmp_path / "dump", "memory", "--format", "dot"
    )
    assert "draw memory takes no --phase: that option is for schedule" in refused(
        capsys, tmp_path / "dump", "memory", "--phase", "both"
    )
    told = refused(capsys, tmp_path / "dump", "memory", "-o", tmp_path / "picture.png")
    assert told.startswith("neato is not installed; install Graphviz")
    assert told.endswith("; the .svg files are written")


@needs_dot
@pytest.mark.parametrize(("ending", "start"), [("png", b"\x89PNG"), ("pdf", b"%PDF"), ("svg", b"<svg")])
def test_a_chart_in_each_format(tmp_path: Path, ending: str, start: bytes, capsys: pytest.CaptureFixture[str]) -> None:
    name = 'a"\\" T 1 2 }]; graph x {<b>&'
    made(tmp_path / "dump", graph(), lowered("add", buffers=(name,)), line(0, "allocate", buffer=name, bytes=4_000))
    (path,) = drawn(capsys, tmp_path / "dump", "memory", "-o", tmp_path / f"picture.{ending}")
    assert path.read_bytes().startswith(start)
    assert [found.name for found in tmp_path.glob("picture.*")] == [path.name]


def test_the_way_between_two_operations(dump: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (path,) = drawn(capsys, dump, "--path", "op1", "op0", "--phase", "after", "--format", "dot")
    assert path.name == "schedule_post_fusion_path_op1_op0.dot"
    assert "on the way from op0 to op1" in path.read_text()


def test_names_that_do_not_depend_on_each_other(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made(
        tmp_path,
        graph(),
        operation("op0", reads={}, writes={"buf0": 4}, phase="pre_fusion"),
        operation("op1", reads={}, writes={"buf1": 4}, phase="pre_fusion"),
    )
    told = refused(capsys, tmp_path, "--path", "op0", "op1")
    assert told.startswith("--path op0 op1: neither depends on the other, in model__0_forward_1.0: there is no path")
