"""`replay`: a recorded graph is compiled again, beside the first compile, which stays as it was."""

import hashlib
import json
import shutil
from pathlib import Path

import pytest

from inspect_compile.analysis.compare.causes.find import causes
from inspect_compile.analysis.compare.content import code
from inspect_compile.analysis.compare.pairing import paired
from inspect_compile.analysis.compare.replays import replays
from inspect_compile.analysis.lookup.graphs import find_graph
from inspect_compile.analysis.lookup.pairs import Pair, standing
from inspect_compile.commands import main
from inspect_compile.dump import Dump
from inspect_compile.errors import CommandError
from inspect_compile.facts import Frame, GraphEnd, Kernel, Node, Operation, Remark
from inspect_compile.graph import CompiledGraph
from inspect_compile.graph.fusion.ledger import candidates
from inspect_compile.launch.replay import replayed
from inspect_compile.tables.lookup_text import only
from inspect_compile.tui.models.outline import outline
from tests.conftest import DumpOf
from tests.running import COMMAND, inspected, run

SAMPLES = Path(__file__).parents[2] / "samples"
EVERY = sorted(path.stem for path in SAMPLES.glob("*.py") if path.stem not in ("ddp_step", "user_triton_kernel"))
Capture = pytest.CaptureFixture[str]


def _copied(dump: Path, to: Path) -> Path:
    shutil.copytree(dump, to, ignore=shutil.ignore_patterns("replay_*"))
    return to


def _contents(root: Path) -> dict[str, str]:
    """Every file that is not of a replay."""
    files = (path for path in root.rglob("*") if path.is_file() and "replay_" not in str(path.relative_to(root)))
    return {str(path.relative_to(root)): hashlib.sha256(path.read_bytes()).hexdigest() for path in files}


def test_as_it_was_a_graph_gives_the_same_code(
    dump_of: DumpOf, tmp_path: Path, no_graphs: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    root = _copied(dump_of("training_step").dump, tmp_path / "dump")
    before = _contents(root)
    cache = {"TORCHINDUCTOR_CACHE_DIR": str(no_graphs), "TORCHINDUCTOR_MAX_AUTOTUNE": "1"}

    done = run([*COMMAND, "replay", root, "--graph", "backward", "--json"], tmp_path, environment=cache)

    assert done.returncode == 0, done.stderr
    assert f"this runs code from the dump: {root}/torchinductor/" in done.stderr
    first, again, *differences = map(json.loads, done.stdout.splitlines())
    assert (first["replay"], again["replay"], again["path"]) == (None, 1, "replay_1")
    assert again["same_code"] is True, differences
    assert not differences
    same = {"replay": 1, "path": "replay_1", "same_code": True, "seconds": again["seconds"]}
    assert {**first, **same, "first": again["first"]} == again
    assert (first["first"], again["first"]) == (None, {name: first[name] for name in again["first"]})
    assert _contents(root) == before
    assert not list(no_graphs.glob("fxgraph/*/*"))

    part = Dump(root / "replay_1")
    graph = only(find_graph(part, "backward"))
    assert part.run.replay_of == graph.graph
    assert part.run.status == "finished"
    assert [row.name for row in part.rows(Kernel)] == [row.name for row in Dump(root).rows(Kernel, graph.graph)]
    ours, theirs = (
        {row.name: (row.where, row.module, row.origins) for row in dump.rows(Node, graph.graph) if row.stage == "aot"}
        for dump in (part, Dump(root))
    )
    assert ours == theirs
    assert part.rows_of_compile(Frame, "0/0")  # those of the program
    monkeypatch.chdir(tmp_path)
    assert main(["show", "dump", "--replay", "1", "kernels"]) == 0
    assert "cpp_fused" in capsys.readouterr().out
    assert main(["show", "dump", "--replay", "2"]) == 2
    assert "--replay 2: no such replay in dump; there are: 1" in capsys.readouterr().err


@pytest.mark.harmless
def test_a_knob_and_a_target(dump_of: DumpOf, tmp_path: Path, inductor_cache: Path) -> None:
    root = _copied(dump_of("dynamic_shapes").dump, tmp_path / "dump")
    options = ["--graph", "1_inference", "--target", "sm_90", "--config", "max_fusion_size=1"]

    done = run(
        [*COMMAND, "replay", root, *options],
        tmp_path,
        environment={"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache), "COLUMNS": "160"},
    )

    assert done.returncode == 0, done.stderr
    assert "sm_90, max_fusion_size=1" in done.stdout
    assert "AOTAutograd's decompositions for the CPU remain" in done.stdout
    assert "registers" in done.stdout
    (found,) = replays(Dump(root))
    ((again, differences),) = found.again
    assert (again.target, again.config, again.status) == ("sm_90", {"max_fusion_size": "1"}, "compiled")
    assert again.registers is not None
    assert {row.kind for row in differences} <= {"nodes", "kernels", "fusion"}
    part = Dump(root / "replay_1")
    assert part.run.device == "target sm_90"
    assert {kernel.kind for kernel in part.rows(Kernel)} == {"triton", "extern"}
    generated = part.text(again.graph, "output_code.py") or ""
    symbols = {size for row in Dump(root).rows(Node, again.graph) for value in row.values for size in value.size}
    assert all(str(size) in generated for size in symbols if isinstance(size, str))
    assert any(isinstance(size, str) for size in symbols)
    table = outline(Dump(root)).table
    label = "".join(span.text for span in table.spans(len(table.rows) - 1, 80))
    assert label.startswith("└ replay 1 sm_90, max_fusion_size=1 ")


def test_a_pair_is_kept_apart(dump_of: DumpOf, tmp_path: Path, inductor_cache: Path) -> None:
    root = _copied(dump_of("softmax_mlp").dump, tmp_path / "dump")
    (graph,) = Dump(root).outermost()
    group = next(row for row in Dump(root).rows(Operation) if row.phase == "post_fusion" and len(row.members) > 1)
    a, b = group.members[:2]

    done = run(
        [*COMMAND, "replay", root, "--deny", a, b],
        tmp_path,
        environment={"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache), "TORCH_LOGS": "fusion", "COLUMNS": "160"},
    )

    assert done.returncode == 0, done.stderr
    assert f"{a} and {b} are apart, in " in done.stdout
    part = Dump(root / "replay_1")
    assert part.run.denied == ((a, b),)
    assert not standing(part, Pair(graph.graph, (a,), (b,))).is_fused
    refused = [
        row for row in candidates(CompiledGraph(part, part.outermost()[0].graph)) if row.code == "denied-by-user"
    ]
    assert (refused[0].a, refused[0].b, refused[0].reason) == (a, b, "denied by user")
    (found,) = replays(Dump(root))
    ((again, differences),) = found.again
    assert (again.groups or 0) > (found.first.groups or 0) > 0
    assert "fusion" in {row.kind for row in differences}
    (cause,) = causes(paired(Dump(root), part))
    assert (cause.level, cause.what) == ("fusion", "denied-by-user")
    assert cause.a[0].startswith("fused in round ")
    assert cause.b[0].endswith(": denied by user")
    assert cause.where is not None


def test_what_fails_is_told_and_stays(dump_of: DumpOf, tmp_path: Path, capsys: Capture) -> None:
    root = _copied(dump_of("softmax_mlp").dump, tmp_path / "dump")
    (graph,) = Dump(root).outermost()
    file = Dump(root).folder(graph.graph) / "fx_graph_runnable.py"
    file.write_text(file.read_text().replace("(256,)", "(255,)"))

    assert main(["replay", str(root)]) == 1

    said = capsys.readouterr()
    assert "the compile failed: RuntimeError: " in said.err
    assert "replay 1 failed: RuntimeError: " in said.out
    assert Dump(root / "replay_1").run.status == "raised"
    assert "Traceback (most recent call last)" in (root / "replay_1" / "compiler.log").read_text()
    file.unlink()
    assert main(["replay", str(root)]) == 2
    assert "no fx_graph_runnable.py" in capsys.readouterr().err
    assert not (root / "replay_2").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--config", "x"], "'x' is not a setting; write NAME=VALUE"),
        (["--target", "sm_1"], "'sm_1' is not a known GPU; there are: sm_75 (T4)"),
        ([], "3 graphs; choose one with --graph (model__0_forward_1.0, "),
        (["--graph", "nothing"], "--graph nothing: no such graph; there are: "),
        (["--graph", "forward", "--rank", "1"], "--rank 1: no such rank in "),
        (["--graph", "forward", "--deny", "op0", "op0"], "op0 and op0: both are computed by op0; name two operations"),
        (["--graph", "forward", "--deny", "op0", "buf99"], "buf99: no operation matches in "),
        (
            ["--graph", "forward", "--deny", "op0", "op1"],
            "op0 and op1 were not fused anyway: after fusion they are in ",
        ),
    ],
)
def test_errors_say_what_there_is(dump_of: DumpOf, capsys: Capture, words: list[str], told: str) -> None:
    assert main(["replay", str(dump_of("training_step").dump), *words]) == 2

    said = capsys.readouterr()
    assert told in said.err
    assert not said.out
    assert "runs code" not in said.err


def test_an_operator_of_a_library_is_there_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    library = tmp_path / "library"
    library.mkdir()
    (library / "operators_of_mine.py").write_text(OPERATORS, encoding="utf-8")
    (tmp_path / "program.py").write_text(CALLS, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(library))
    assert inspected([tmp_path / "program.py"], tmp_path).returncode == 0
    dump = Dump(tmp_path / "dump")
    (graph,) = dump.outermost()
    assert graph.operators == {"mine::scale": "operators_of_mine"}

    done = replayed(CompiledGraph(dump, graph.graph))
    assert not done.failure
    assert code(Dump(done.part), graph.graph) == code(dump, graph.graph)
    (found,) = replays(Dump(dump.root), graph.graph)
    assert [differences for _, differences in found.again] == [()]

    monkeypatch.delenv("PYTHONPATH")
    with pytest.raises(CommandError, match="calls mine::scale, which operators_of_mine defines, and that can't be"):
        replayed(CompiledGraph(dump, graph.graph))


OPERATORS = """
import torch

@torch.library.custom_op("mine::scale", mutates_args=())
def scale(x: torch.Tensor, by: float) -> torch.Tensor:
    return x * by

@scale.register_fake
def _(x, by):
    return torch.empty_like(x)
"""
CALLS = """
import torch
from operators_of_mine import scale

torch.compile(lambda x: scale(x.relu(), 2.0) + 1)(torch.ones(8))
"""


@pytest.mark.harmless
@pytest.mark.parametrize("sample", ["attention_block", "softmax_mlp"])
def test_what_the_cpu_recorded_is_compiled_as_a_run_for_the_target_does(sample: str, tmp_path: Path) -> None:
    """As far as AOTAutograd takes nothing apart by device but attention."""
    for folder, options in (("cpu", []), ("gpu", ["--target", "sm_90"])):
        options = [*options, "--dump", str(tmp_path / folder)]
        assert inspected([SAMPLES / f"{sample}.py"], tmp_path, options=options).returncode == 0
    (graph,) = Dump(tmp_path / "cpu").outermost()

    done = replayed(CompiledGraph(Dump(tmp_path / "cpu"), graph.graph), target="sm_90")

    assert not done.failure
    there = Dump(tmp_path / "gpu" / "target_sm_90")
    assert code(Dump(done.part), graph.graph) == code(there, graph.graph)


@pytest.mark.harmless
@pytest.mark.parametrize("target", ["", "sm_90"])
@pytest.mark.parametrize("sample", EVERY)
def test_every_graph_of_every_sample_gives_the_same_code(sample: str, target: str, tmp_path: Path) -> None:
    recorded = inspected([SAMPLES / f"{sample}.py"], tmp_path, options=["--target", target] if target else [])
    assert recorded.returncode == 0, recorded.stderr
    root = tmp_path / "dump" / (f"target_{target}" if target else "")

    for graph in Dump(root).outermost():
        done = replayed(CompiledGraph(Dump(root), graph.graph))
        assert not done.failure
        assert [end.status for end in Dump(done.part).rows(GraphEnd)] == ["compiled"]
        (found,) = replays(Dump(root), graph.graph)
        assert [(row.same_code, differences) for row, differences in found.again] == [(True, ())]
        assert not [row for row in Dump(done.part).rows(Remark) if row.code.startswith("replay-")]
