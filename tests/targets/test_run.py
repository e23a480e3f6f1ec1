"""`run --target`: the program runs as with backend="eager", and its graphs are compiled for GPUs that are not here."""

import re
import time
from importlib import metadata
from pathlib import Path

import pytest

from inspect_compile.analysis.coverage import coverage
from inspect_compile.analysis.graphs import outermost
from inspect_compile.dump import Dump
from inspect_compile.facts import Frame, Graph, GraphEnd, Kernel, Node, Remark
from tests.running import COMMAND, inspected, plain, run, without_last_words

PROGRAMS = Path(__file__).parent / "programs"
SAMPLES = Path(__file__).parents[2] / "samples"
ALL = sorted(path.stem for path in SAMPLES.glob("*.py"))


def _dump(cwd: Path, target: str = "sm_90") -> Dump:
    return Dump(cwd / "dump" / f"target_{target}")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training step for two targets."""
    cwd = tmp_path_factory.mktemp("trained")
    done = inspected([PROGRAMS / "eager.py", "inductor"], cwd, options=["--target", "sm_90", "--target", "gfx942"])
    (cwd / "stdout").write_text(done.stdout)
    (cwd / "stderr").write_text(done.stderr)
    assert done.returncode == 0, done.stderr
    return cwd


def test_the_program_sees_what_it_sees_with_eager_graphs(trained: Path) -> None:
    alone = plain([PROGRAMS / "eager.py", "eager"], trained)

    assert "cuda False 0 False" in alone.stdout
    said = alone.stdout.replace("cuda False 0 False", "cuda True 1 False")  # it could go the way of the GPU
    assert (trained / "stdout").read_text() == said
    assert without_last_words((trained / "stderr").read_text()) == without_last_words(alone.stderr)


@pytest.mark.parametrize(("target", "device"), [("sm_90", "target sm_90"), ("gfx942", "target gfx942")])
def test_every_graph_is_compiled_for_every_target(trained: Path, target: str, device: str) -> None:
    dump = _dump(trained, target)

    assert dump.run.status == "finished"
    assert dump.run.device == device
    assert [graph.kind for graph in outermost(dump)] == ["forward", "backward"]
    assert [end.status for end in dump.rows(GraphEnd)] == ["compiled", "compiled"]
    assert dump.rows(Kernel)
    assert {kernel.kind for kernel in dump.rows(Kernel)} == {"triton", "extern"}
    assert {kernel.device.partition(":")[0] for kernel in dump.rows(Kernel) if kernel.kind == "triton"} == {"cuda"}
    for graph in outermost(dump):
        assert coverage(dump, graph.graph).share == 1.0
        code = dump.text(graph.graph, "output_code.py")
        assert code is not None
        assert ("'hip'" in code) == (target == "gfx942")


def test_frames_are_those_of_the_program(trained: Path) -> None:
    dump = _dump(trained)

    assert [graph.compile_id for graph in outermost(dump)] == ["0/0", "0/0"]
    assert [row.status for row in dump.rows_of_compile(Frame, "0/0")] == ["compiled"]


def test_views_choose_a_target(trained: Path) -> None:
    def said(*words: str) -> str:
        done = run([*COMMAND, *words], trained, environment={"COLUMNS": "120"})
        return done.stdout + done.stderr

    assert re.search(r"target sm_90 .* finished +show dump --target sm_90", said("show", "dump"))
    assert "2 targets, each with kernels of its own; choose one with --target (sm_90, gfx942)" in said(
        "show", "dump", "kernels"
    )
    assert "triton" in said("show", "dump", "kernels", "--target", "gfx942")
    assert "nothing in dump was compiled for it; there are: sm_90, gfx942" in said("show", "dump", "--target", "sm_80")
    assert "differ" in said("diff", "dump/target_sm_90", "dump/target_gfx942")


def test_a_graph_that_cannot_be_compiled_is_told_and_the_others_go_on(tmp_path: Path) -> None:
    done = inspected([PROGRAMS / "own_op.py"], tmp_path, options=["--target", "sm_90"])
    dump = _dump(tmp_path)

    assert done.returncode == 0, done.stderr
    assert done.stdout == plain([PROGRAMS / "own_op.py"], tmp_path).stdout
    assert [(row.code, "'own'" in row.message) for row in dump.rows(Remark)] == [("target-failed", True)]
    assert [end.status for end in dump.rows(GraphEnd)] == ["compiled"]


def test_a_killed_program_leaves_what_it_had_sent(tmp_path: Path) -> None:
    done = inspected([PROGRAMS / "killed.py"], tmp_path, options=["--target", "sm_90"])

    assert done.returncode == -9
    end = time.monotonic() + 120
    while not _dump(tmp_path).rows(GraphEnd) and time.monotonic() < end:
        time.sleep(0.2)
    assert [row.status for row in _dump(tmp_path).rows(GraphEnd)] == ["compiled"]


def test_what_is_timed_on_a_device_is_marked_as_not_measured(tmp_path: Path) -> None:
    done = inspected([PROGRAMS / "tuned.py"], tmp_path, options=["--target", "sm_90"])

    assert done.returncode == 0, done.stderr
    told = [row.message for row in _dump(tmp_path).rows(Remark) if row.code == "target-not-measured"]
    assert len(told) == 1
    assert re.search(r"of 0/0, \d+ candidates for addmm", told[0])


def test_an_unknown_target_lists_those_that_there_are(tmp_path: Path) -> None:
    done = inspected(["x.py"], tmp_path, options=["--target", "sm_99"])

    assert done.returncode == 125
    assert done.stdout == ""
    for known in ("sm_75 (T4)", "sm_90 (H100)", "sm_120 (RTX 5090)", "gfx942 (MI300X)"):
        assert known in done.stderr


def test_a_triton_that_is_too_old_is_told_with_the_one_that_is_needed(tmp_path: Path) -> None:
    found = tmp_path / "older" / "triton-3.1.0.dist-info"
    found.mkdir(parents=True)
    (found / "METADATA").write_text("Metadata-Version: 2.1\nName: triton\nVersion: 3.1.0\n")
    (tmp_path / "x.py").touch()

    done = inspected(
        ["x.py"], tmp_path, options=["--target", "sm_100"], environment={"PYTHONPATH": str(tmp_path / "older")}
    )

    assert done.returncode == 125
    assert "Triton 3.1.0 is too old for it, 3.3 or newer is needed" in done.stderr
    assert metadata.version("triton") != "3.1.0"


@pytest.mark.targets
@pytest.mark.parametrize("sample", ALL)
def test_samples(sample: str, tmp_path: Path) -> None:
    targets = ["sm_90", *(["gfx942"] if sample == "conv_bias" else [])]
    options = [word for target in targets for word in ("--target", target)]
    arguments = ["--device", "cuda"] if sample in ("softmax_mlp", "user_triton_kernel") else []
    done = inspected([SAMPLES / f"{sample}.py", *arguments], tmp_path, options=[*options, "--fake-kernels"])

    assert done.returncode == 0, done.stderr
    for target in targets:
        dump = _dump(tmp_path, target)
        assert dump.rows(Graph)
        assert not [row.message for row in dump.rows(Remark) if row.code in ("target-failed", "target-not-sent")]
        assert {end.status for end in dump.rows(GraphEnd)} == {"compiled"}


def test_sizes_that_are_symbols_stay_symbols(tmp_path: Path) -> None:
    done = inspected([SAMPLES / "dynamic_shapes.py"], tmp_path, options=["--target", "sm_90"])

    assert done.returncode == 0, done.stderr
    static, dynamic = (_dump(tmp_path).rows(Node, graph.graph) for graph in outermost(_dump(tmp_path)))
    assert {type(size) for node in static for value in node.values for size in value.size} == {int}
    assert {type(size) for node in dynamic for value in node.values for size in value.size} == {int, str}
