"""Dumps of another torch, recorded on a GPU: all views open them, and tell what is known of those programs."""

import json
import shutil
from pathlib import Path

import pytest

from inspect_compile.analysis.dumps.hooks import disabled
from inspect_compile.analysis.kernels.autotuning import autotuned
from inspect_compile.analysis.lowering.coverage import coverage
from inspect_compile.analysis.overview.summary import summarize, summarize_run
from inspect_compile.commands import main
from inspect_compile.dump import Dump, open_dump
from inspect_compile.facts import Kernel
from inspect_compile.finish import ARTIFACTS, ensure_finished
from inspect_compile.graph import CompiledGraph
from inspect_compile.tables import TABLES
from inspect_compile.tui.app import InspectApp
from tests.conftest import TESTS, DumpOf
from tests.tui.driving import lines, press

RECORDED = TESTS / "data" / "h200-torch-2.11"
GRAPH = "model__0_inference_0.0"
KERNELS = {
    "softmax_mlp": {
        "extern_kernels.mm": "extern",
        "triton_poi_fused_addmm_relu_0": "triton",
        "extern_kernels.addmm": "extern",
        "triton_per_fused__softmax_exp_prepare_softmax_online_sub_1": "triton",
    },
    "user_triton_kernel": {
        "triton_poi_fused_sin_0": "triton",
        "blend_kernel_0": "user_triton",
        "triton_poi_fused_relu_1": "triton",
    },
    "tuned": {
        "triton_tem_fused_mm_0": "template",
        "triton_poi_fused_relu_1": "triton",
        "triton_red_fused_sum_2": "triton",
        "triton_per_fused_sum_3": "triton",
    },
}
BEST_CONFIGS = {
    "xb": {"XBLOCK": 512, "num_warps": 2, "num_stages": 1},
    "zr": {"XBLOCK": 16, "R0_BLOCK": 32, "num_warps": 4, "num_stages": 1},
    "rq": {"XBLOCK": 128, "num_warps": 4, "num_stages": 1},
}
"""Folder in torch's cache → what its `.best_config` said after the run of `tuned`."""

every_sample = pytest.mark.parametrize("sample", KERNELS)
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def dump(sample: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Dump:
    """A copy, called `dump`, to write into, in the current directory."""
    shutil.copytree(RECORDED / sample, tmp_path / "dump")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    return open_dump(Path("dump"))


@every_sample
def test_what_is_known(dump: Dump, sample: str) -> None:
    run, (graph,) = summarize_run(dump), dump.graphs()
    assert run.versions["torch"] == "2.11.0+cu130"
    assert (dump.run.device, run.status) == ("cuda (NVIDIA H200, sm_90)", "finished")
    (missing,) = disabled(dump)
    assert (missing.target, missing.state) == ("torch._dynamo.convert_frame.add_skip_reason", "missing")  # of 2.13 on
    assert graph.graph == GRAPH
    launched = sorted(dump.rows(Kernel), key=lambda kernel: kernel.launches)
    assert {kernel.name: kernel.kind for kernel in launched} == KERNELS[sample]
    assert [kernel.name for kernel in launched] == list(KERNELS[sample])
    assert coverage(CompiledGraph(dump, GRAPH)).missing == []
    assert summarize(CompiledGraph(dump, graph.graph)).launches == len(KERNELS[sample])
    assert dump.damaged == 0


@every_sample
def test_an_older_dump_is_compared_with_one_of_today(dump: Dump, sample: str, dump_of: DumpOf, capsys: Capture) -> None:
    """It has no calls that led to a line, no timers, and less of fusion: what both have is compared."""
    assert main(["diff", "dump", str(RECORDED / sample)]) == 0
    assert capsys.readouterr().out.startswith("No difference: ")
    if sample == "softmax_mlp":
        here = dump_of(sample, "--device", "cpu").dump
        for pair in ((str(here), "dump"), ("dump", str(here))):
            assert main(["diff", *pair, "--json"]) == 1
            said = capsys.readouterr()
            assert said.err == ""
            causes = [row for line in said.out.splitlines() if (row := json.loads(line))["fact"] == "difference_cause"]
            assert {row["level"] for row in causes} == {"dynamo"}, "the tensors are on another device"


@every_sample
def test_the_kernels_are_triton(dump: Dump, sample: str) -> None:
    code = (dump.text(GRAPH, "output_code.py") or "").splitlines()
    for kernel in dump.rows(Kernel):
        if kernel.kind == "extern":
            assert all(f"{kernel.name}(" in code[line - 1] for line in kernel.launches)
        else:
            assert kernel.device == "cuda:0"
            assert "@triton.jit" in (dump.text(GRAPH, kernel.source) or "")
            assert all(f"{kernel.name}.run(" in code[line - 1] for line in kernel.launches)
        assert len(kernel.launches) == 1
        assert all(line.file == f"/home/user/samples/{sample}.py" for line in kernel.lines)


@every_sample
def test_every_table(dump: Dump, capsys: Capture) -> None:
    for table in TABLES:
        assert main(["show", "dump", table]) == 0
        told = capsys.readouterr()
        assert told.out.strip()
        assert told.err == ""
        assert main(["show", "dump", table, "--json"]) == 0
        assert all(json.loads(line) for line in capsys.readouterr().out.splitlines())


@every_sample
def test_every_derived_file(dump: Dump, sample: str) -> None:
    assert ensure_finished(dump)
    assert (dump.root / ".finished").read_text() == ""
    texts = {name: dump.text(GRAPH, name) or "" for name in ARTIFACTS}
    assert all(texts.values())
    assert all(name in texts["kernels.txt"] for name in KERNELS[sample])


@every_sample
async def test_every_view(dump: Dump, sample: str) -> None:
    async with InspectApp(dump).run_test(size=(160, 50)) as pilot:
        await press(pilot, *"1234567")
        views = {name: lines(pilot, f"{name}-rows").sheet for name in ("source", "fx", "ir", "kernels", "cost")}
        rows = {name: [sheet.plain(index) for index in range(len(sheet))] for name, sheet in views.items()}
    assert all(rows.values())
    assert all(any(name in text for text in rows["kernels"]) for name in KERNELS[sample])


@pytest.mark.parametrize("sample", ["tuned"])
def test_the_winner_is_what_torch_remembers(dump: Dump, sample: str) -> None:
    assert ensure_finished(dump)
    template, *kernels = autotuned(CompiledGraph(dump, GRAPH))
    paths = {kernel.name: Path(kernel.path).parent.name for kernel in dump.rows(Kernel)}

    assert {paths[row.kernel]: row.choices[0].config for row in kernels} == BEST_CONFIGS
    assert all(row.choices[0].label == row.winner for row in kernels)
    assert {row.by for row in kernels} == {"descent"}
    # Of the template the generated code has the winner's block sizes, torch's own log its name and time.
    assert (template.winner, template.by, template.runs) == ("triton_mm_8", "scheduler", True)
    assert round(template.choices[0].milliseconds or 0.0, 4) == 0.0068
    assert template.failed == 1
    failed = next(row for row in template.choices if row.source == "measured" and row.milliseconds is None)
    assert "out of resource" in failed.why
    forms = [kernel.form for kernel in sorted(dump.rows(Kernel), key=lambda kernel: kernel.launches)]
    assert forms == ["template", "pointwise", "reduction", "persistent reduction"]
