"""`run --target`: the program runs as with backend="eager", and its graphs are compiled for GPUs that are not here."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import msgspec
import pytest

import inspect_compile
from inspect_compile.analysis.kernels.autotuning import autotuned
from inspect_compile.analysis.lowering.coverage import coverage
from inspect_compile.dump import Dump
from inspect_compile.facts import Binary, DynamoNode, Frame, Graph, GraphEnd, Kernel, Node, Remark
from inspect_compile.graph import CompiledGraph
from tests.running import COMMAND, SECONDS, inspected, plain, run, without_last_words

pytestmark = pytest.mark.targets

PROGRAMS = Path(__file__).parent / "programs"
SAMPLES = Path(__file__).parents[2] / "samples"
SHORT = ("conv_bias", "ddp_step", "user_triton_kernel")
ALL = [
    pytest.param(path.stem, marks=() if path.stem in SHORT else pytest.mark.harmless)
    for path in sorted(SAMPLES.glob("*.py"))
]


def _wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + SECONDS
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.1)


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


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
    assert [graph.kind for graph in dump.outermost()] == ["forward", "backward", "inference"]
    assert [end.status for end in dump.rows(GraphEnd)] == ["compiled"] * 3
    assert dump.rows(Kernel)
    assert {kernel.kind for kernel in dump.rows(Kernel)} == {"triton", "extern"}
    assert {kernel.device.partition(":")[0] for kernel in dump.rows(Kernel) if kernel.kind == "triton"} == {"cuda"}
    for graph in dump.outermost():
        assert coverage(CompiledGraph(dump, graph.graph)).share == 1.0
        code = dump.text(graph.graph, "output_code.py")
        assert code is not None
        assert ("'hip'" in code) == (target == "gfx942")


def test_frames_are_those_of_the_program(trained: Path) -> None:
    dump = _dump(trained)

    forward, backward, update = (graph.compile_id for graph in dump.outermost())
    assert forward == backward == "0/0"
    assert update not in (None, "0/0")
    for compile_id in (forward, update):
        assert [row.status for row in dump.rows_of_compile(Frame, compile_id)] == ["compiled"]


def test_an_optimizer_is_traced_once_more_where_a_gpu_would_update_all_at_once(trained: Path) -> None:
    def called(dump: Dump, update: Graph) -> set[str]:
        return {
            node.target for node in dump.rows_of_compile(DynamoNode, update.compile_id) if node.op.startswith("call")
        }

    dump = _dump(trained)
    update = dump.outermost()[-1]

    assert any(kernel.name.startswith("triton_for_fused_") for kernel in dump.rows(Kernel, update.graph))
    assert any("_foreach_add" in target for target in called(dump, update))
    assert not any("_foreach" in target for target in called(Dump(trained / "dump"), update))
    assert [row.graph for row in dump.rows(Remark) if row.code == "target-traced-again"] == [update.compile_id]


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
    assert [(row.code, row.message) for row in dump.rows(Remark) if row.code.startswith("target")] == [
        (
            "target-not-sent",
            "graph 1/0 was not compiled: it can't be sent to another process (it calls __main__.shifted)",
        ),
    ]
    assert [graph.compile_id for graph in dump.outermost()] == ["0/0", "2/0", "3/0"]
    assert [end.status for end in dump.rows(GraphEnd)] == ["compiled"] * 3


def test_a_killed_program_leaves_what_it_had_sent(tmp_path: Path) -> None:
    done = inspected([PROGRAMS / "killed.py"], tmp_path, options=["--target", "sm_90"])

    assert done.returncode == -9
    end = time.monotonic() + 120
    while not _dump(tmp_path).rows(GraphEnd) and time.monotonic() < end:
        time.sleep(0.2)
    assert [row.status for row in _dump(tmp_path).rows(GraphEnd)] == ["compiled"]


def test_ctrl_c_ends_the_program_as_it_would_and_what_compiles_for_it(tmp_path: Path) -> None:
    words = [*COMMAND, "run", "--no-tui", "--dump", "dump", "--target", "sm_90", str(PROGRAMS / "paused.py")]
    program = subprocess.Popen(
        words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    assert program.stdout is not None
    assert program.stdout.readline() == "sent\n"
    _wait_for(lambda: (_dump(tmp_path).root / "run.json").exists())
    worker = _dump(tmp_path).run.pid
    os.killpg(program.pid, signal.SIGINT)
    stderr = program.communicate(timeout=SECONDS)[1]

    assert program.returncode == -signal.SIGINT
    assert "KeyboardInterrupt" in stderr
    assert "inspect_compile" not in without_last_words(stderr)
    assert not _is_alive(worker)
    assert Dump(tmp_path / "dump").run.notes == ("interrupted: what was not compiled by then is missing",)
    assert run([*COMMAND, "show", "dump", "--target", "sm_90"], tmp_path).returncode == 0


def test_one_that_is_killed_is_told_and_the_others_go_on(tmp_path: Path) -> None:
    done = inspected([PROGRAMS / "kills.py"], tmp_path, options=["--target", "sm_75", "--target", "sm_90"])

    assert done.returncode == 0, done.stderr
    assert done.stdout == "done\n"
    assert [row.status for row in _dump(tmp_path).rows(GraphEnd)] == ["compiled", "compiled"]
    (note,) = Dump(tmp_path / "dump").run.notes
    assert note.startswith("the compile for sm_75 ended by SIGKILL; target_sm_75/compiler.log")


def test_what_is_timed_on_a_device_is_marked_as_not_measured(tmp_path: Path) -> None:
    done = inspected([PROGRAMS / "tuned.py"], tmp_path, options=["--target", "sm_90"])

    assert done.returncode == 0, done.stderr
    dump = _dump(tmp_path)
    told = [row for row in dump.rows(Remark) if row.code == "target-not-measured" and row.ids]
    operators = (
        "addmm of [512], [128, 512], [512, 512]",
        "convolution of [",
        "triton_flex_attention",
    )
    for row, operator in zip(told, operators, strict=True):
        asked = rf"of {row.graph}, \d+ candidates for {re.escape(operator)}.*, which"
        assert re.search(rf"{asked} .* {row.ids[0]} was taken", row.message)
        assert "num_warps" in str(row.numbers[row.ids[0]])
    assert "ALLOW_TF32=True" in str(told[0].numbers[told[0].ids[0]])
    templates = [kernel.name for kernel in dump.rows(Kernel) if kernel.kind == "template"]
    for name, operator in zip(templates, ("addmm_relu", "convolution", "flex_attention"), strict=True):
        assert operator in name
    assert set(templates) <= {binary.kernel for binary in dump.rows(Binary)}
    texts = [file.read_text() for file in dump.root.rglob("*") if file.suffix in (".log", ".txt", ".jsonl")]
    assert not [text for text in texts if "best_time" in text or ".0000 ms" in text]
    tuned = [row for graph in dump.outermost() for row in autotuned(CompiledGraph(dump, graph.graph))]
    chosen = [row for row in tuned if row.about == "operation"]
    assert [(row.winner, row.by, row.runs) for row in chosen] == [(row.ids[0], "rule", True) for row in told]
    assert {(option.milliseconds, option.source) for row in tuned for option in row.choices} == {(None, "not measured")}


def test_small_floats_are_the_target_s_or_it_is_told_that_it_has_none(tmp_path: Path) -> None:
    done = inspected([PROGRAMS / "small_floats.py"], tmp_path, options=["--target", "sm_90", "--target", "sm_75"])
    hopper, turing = _dump(tmp_path), _dump(tmp_path, "sm_75")

    assert done.returncode == 0, done.stderr
    assert {end.status for end in hopper.rows(GraphEnd)} == {"compiled"}
    assert len([kernel for kernel in hopper.rows(Kernel) if kernel.name == "extern_kernels._scaled_mm"]) == 2
    assert not [row.code for row in hopper.rows(Remark) if row.code.startswith("target")]
    assert [(row.code, row.message) for row in turing.rows(Remark) if row.code.startswith("target")] == [
        ("target-lacks", "of 0/0, _scaled_mm: T4 multiplies no float8, and the call fails there"),
        ("target-lacks", "of 0/1, _scaled_mm: T4 multiplies no float8, and the call fails there"),
        (
            "target-failed",
            "graph 1/0 has no kernels for sm_75: torch refuses it there (SkipFrame: BF16 is not supported)",
        ),
    ]
    assert [end.status for end in turing.rows(GraphEnd)] == ["compiled", "compiled", "failed"]


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
        ["x.py"], tmp_path, options=["--target", "sm_90"], environment={"PYTHONPATH": str(tmp_path / "older")}
    )

    assert done.returncode == 125
    assert "Triton 3.1.0 is too old, 3.3 or newer is needed" in done.stderr
    assert metadata.version("triton") != "3.1.0"


def test_where_there_is_no_triton_the_one_that_is_needed_is_told(tmp_path: Path) -> None:
    (tmp_path / "x.py").touch()
    without = tmp_path / "without"
    without.mkdir()
    (without / "inspect_compile").symlink_to(Path(inspect_compile.__file__).parent)
    for entry in Path(msgspec.__file__).parents[1].iterdir():
        if not entry.name.startswith(("triton", "inspect_compile")):
            (without / entry.name).symlink_to(entry)

    words = [sys.executable, "-S", "-m", "inspect_compile", "run", "--target", "sm_90", "--target", "gfx942", "x.py"]
    done = run(words, tmp_path, environment={"PYTHONPATH": str(without)})

    assert done.returncode == 125
    assert "Triton is not installed, and 3.3 or newer is needed to compile for a GPU" in done.stderr


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
    static, dynamic = (_dump(tmp_path).rows(Node, graph.graph) for graph in _dump(tmp_path).outermost())
    assert {type(size) for node in static for value in node.values for size in value.size} == {int}
    assert {type(size) for node in dynamic for value in node.values for size in value.size} == {int, str}
