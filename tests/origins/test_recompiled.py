"""From a log alone, without the program: the second compile is what a recording of the same run has."""

import json
from pathlib import Path

import pytest

from inspect_compile.analysis.dumps.parts import replays
from inspect_compile.dump import Dump
from inspect_compile.facts import Binary, Kernel, Remark
from tests.conftest import SAMPLES
from tests.recompiled import compared
from tests.running import COMMAND, inspected, run

PROGRAMS = Path(__file__).parent / "programs"
RECORDED = Path(__file__).parent.parent / "data" / "h200-torch-2.11"


@pytest.mark.parametrize(
    ("program", "graphs"),
    [
        pytest.param(SAMPLES / "training_step.py", 3, id="training"),
        pytest.param(SAMPLES / "conditional.py", 1, id="nested graphs"),
        pytest.param(PROGRAMS / "own_operators.py", 1, id="operators of the program"),
    ],
)
def test_kernels_fusion_and_memory_are_those_of_the_run(
    program: Path, graphs: int, tmp_path: Path, inductor_cache: Path
) -> None:
    environment = {"TORCH_TRACE": str(tmp_path / "log"), "TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}
    recorded = inspected([program], tmp_path, environment=environment)
    assert recorded.returncode == 0, recorded.stderr
    done = run([*COMMAND, "import", "log", "-o", "read", "--recompile"], tmp_path)
    assert done.returncode == 0, done.stderr

    rows = list(compared(Dump(tmp_path / "dump"), Dump(tmp_path / "read")))

    assert len(rows) == graphs
    assert [row.differ for row in rows] == [()] * graphs
    assert sum(row.equal for row in rows) == sum(row.kernels for row in rows) > 0
    assert sum(row.same_decisions for row in rows) == sum(row.decisions for row in rows) > 0
    assert all(row.is_plan_same and row.is_memory_same for row in rows)


def test_a_page_of_a_log_has_its_second_compile(tmp_path: Path, inductor_cache: Path) -> None:
    environment = {"TORCH_TRACE": str(tmp_path / "log"), "TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}
    recorded = inspected([SAMPLES / "missed_fusion.py"], tmp_path, environment=environment)
    assert recorded.returncode == 0, recorded.stderr
    kept = {"XDG_CACHE_HOME": str(tmp_path / "cache")}

    done = run([*COMMAND, "report", "log", "-o", "page.html", "--recompile"], tmp_path, environment=kept)
    again = run([*COMMAND, "report", "log", "-o", "again.html", "--recompile"], tmp_path, environment=kept)

    assert done.returncode == again.returncode == 0, done.stderr + again.stderr
    assert done.stdout.count(" compiled again, ") == 1
    assert " compiled again, " not in again.stdout  # it is kept with the log
    page = (tmp_path / "page.html").read_text()
    assert page == (tmp_path / "again.html").read_text()
    assert "Not of the log: model__0_inference_0.0 was compiled again on this machine. " in page
    assert "; 3 of 3 kernels equal after renaming" in page
    assert 'id="table-again1-fusion"' in page
    assert 'id="table-again1-memory"' in page
    shown = run([*COMMAND, "show", "log", "fusion", "--replay", "1", "--json"], tmp_path, environment=kept)
    misses = [row for row in map(json.loads, shown.stdout.splitlines()) if row["fact"] == "miss"]
    assert any(row["in_log"] for row in misses)
    assert all(name.startswith("cpp_fused_") for row in misses for name in row["in_log"])

    refused = run([*COMMAND, "report", "dump", "--recompile"], tmp_path)
    assert refused.returncode == 2
    assert "--recompile: dump is a recording, not a log" in refused.stderr


def test_a_triton_kernel_of_the_program_is_a_call(tmp_path: Path) -> None:
    """Its text is never given to Triton; the kernels around it are compiled, for the log's GPU."""
    (folder,) = (RECORDED / "user_triton_kernel" / "torchinductor").iterdir()
    records: dict[str, dict[str, object]] = {
        "fx_graph_runnable.py": {"artifact": {"name": "fx_graph_runnable"}},
        "fx_graph_readable.py": {"artifact": {"name": "before_post_grad_graph"}},
        "fx_graph_transformed.py": {"artifact": {"name": "after_post_grad_graph"}},
        "output_code.py": {"inductor_output_code": {}},
    }
    lines: list[str] = []
    for name, record in records.items():
        # Of a frame's ninth compile, of which a run would record nothing.
        head = record | {"frame_id": 0, "frame_compile_id": 8, "attempt": 0, "has_payload": "0"}
        lines += [f"V1126 x] {json.dumps(head)}", *(f"\t{line}" for line in (folder / name).read_text().splitlines())]
    evil = f"open({str(tmp_path / 'written')!r}, 'w').close()"
    text = "\n".join(lines)
    assert "\n\tdef blend_kernel_0(" in text
    text = text.replace("\n\tdef blend_kernel_0(", f"\n\t@triton.jit({evil})\n\tdef blend_kernel_0(", 1)
    (tmp_path / "trace.log").write_text(f"{text}\n")

    done = run([*COMMAND, "import", "trace.log", "-o", "read", "--recompile"], tmp_path)

    assert done.returncode == 0, done.stderr
    assert "2 of 2 of the same nodes" in done.stdout or "2 of 2 kernels equal" in done.stdout
    assert not (tmp_path / "written").exists()
    (again,) = (part.dump for part in replays(Dump(tmp_path / "read")).values())
    (graph,) = again.outermost()
    assert [(row.kind, row.name.rpartition("_")[0]) for row in again.rows(Kernel, graph.graph)] == [
        ("triton", "triton_poi_fused_blend_kernel_sin"),
        ("triton", "triton_poi_fused_relu"),
        ("extern", "torch.ops.user_triton_kernel.blend"),
    ]
    assert {row.kernel for row in again.rows(Binary) if row.registers} == {
        "triton_poi_fused_blend_kernel_sin_0", "triton_poi_fused_relu_1",
    }  # fmt: skip


def test_an_exported_graph(tmp_path: Path, inductor_cache: Path) -> None:
    """A log of AOTInductor: its text reads parameters of modules that are not there."""
    environment = {"TORCH_TRACE": str(tmp_path / "log"), "TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}
    recorded = inspected([PROGRAMS / "aoti_parameters.py"], tmp_path, environment=environment)
    assert recorded.returncode == 0, recorded.stderr
    done = run([*COMMAND, "import", "log", "-o", "read", "--recompile"], tmp_path)
    assert done.returncode == 0, done.stderr

    read = Dump(tmp_path / "read")
    (again,) = (part.dump for part in replays(read).values())
    (graph,) = again.outermost()

    assert [row.code for row in again.rows(Remark) if row.code == "replay-exported"] == ["replay-exported"]
    kernels = again.rows(Kernel, graph.graph)
    assert {"var_mean", "mul_2"} <= {name for kernel in kernels for name in kernel.nodes}
    first = [row.nodes for row in Dump(tmp_path / "dump").rows(Kernel)]
    computed = [tuple(name for name in names if not name.startswith(("layers_", "scale"))) for names in first]
    assert [kernel.nodes for kernel in kernels] == [names for names in computed if names]
