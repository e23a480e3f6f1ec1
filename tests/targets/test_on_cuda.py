"""`run --target` with a program that asks for CUDA: it runs on the CPU, and says what it could not do there."""

import re
from pathlib import Path

import pytest

from inspect_compile.dump import Dump
from inspect_compile.facts import Frame, GraphEnd, Kernel, Node, Remark
from tests.running import inspected, plain

pytestmark = pytest.mark.targets

PROGRAMS = Path(__file__).parent / "programs"


def _line(program: str, text: str) -> str:
    """`file.py:12`, of the only line that has `text`."""
    path = PROGRAMS / f"{program}.py"
    (number,) = [number for number, line in enumerate(path.read_text().splitlines(), 1) if text in line]
    return f"{path}:{number}"


def test_a_training_script(tmp_path: Path) -> None:
    """All of it in one run: what it computes, what it is told, what the dump holds of it."""
    asked = ["--target", "sm_90", "--fake-kernels"]
    done = inspected([PROGRAMS / "on_cuda.py", "cuda", "inductor"], tmp_path, options=asked)
    alone = plain([PROGRAMS / "on_cuda.py", "cpu", "eager"], tmp_path)

    said = [line for line in done.stdout.splitlines() if line.startswith("result")]
    assert said == alone.stdout.splitlines(), done.stderr
    assert [line for line in done.stdout.splitlines() if line not in said] == [
        "told True 1 0",
        "told H100 (9, 0) 80",
        "told cuda True",
        "before",
        "twice 0.0 1000.0",
        "added 1000.0",
        "told cuda:0",
    ]
    assert done.returncode == 0
    assert "the CPU can't compute aten::_scaled_dot_product_cudnn_attention" in done.stderr

    dump = Dump(tmp_path / "dump" / "target_sm_90")
    _is_on_the_target(dump)
    _casts_as_a_gpu_does(dump)
    assert _own(dump) == {"tuned_kernel_0", "plain_kernel_0"}
    assert _told(dump, "target-cuda") == {
        ("torch.cuda.Event", _line("on_cuda", "torch.cuda.Event(")),
        ("torch.cuda.Stream", _line("on_cuda", "torch.cuda.Stream(")),
        ("torch.cuda.Event.elapsed_time", _line("on_cuda", "elapsed_time(")),
        ("torch.cuda.max_memory_allocated", _line("on_cuda", "max_memory_allocated(")),
    }
    (made_up,) = (row for row in dump.rows(Remark) if row.code == "target-made-up")
    assert made_up.ids == ("aten::_scaled_dot_product_cudnn_attention",)
    assert _told(dump, "target-user-kernel") == {
        ("tuned_kernel", _line("own_kernels", "](x, twice, 1000)")),
        ("plain_kernel", _line("own_kernels", "](x, y, out, x.numel()")),
    }
    assert [row.status for row in Dump(tmp_path / "dump").rows(Frame)] == ["compiled"] * 3


def _is_on_the_target(dump: Dump) -> None:
    assert not _told(dump, "target-failed")
    graphs = [graph.graph for graph in dump.outermost()]
    values = [value for graph in graphs for row in dump.rows(Node, graph) for value in row.values]
    assert {value.device for value in values} == {"cuda:0"}


def _casts_as_a_gpu_does(dump: Dump) -> None:
    """A linear layer in half, a layer norm in single precision; a CPU's keeps half."""
    (forward,) = [graph.graph for graph in dump.outermost() if graph.kind == "forward"]
    rows = {row.target: row for row in dump.rows(Node, forward)}
    assert rows["aten.addmm.default"].values[0].dtype == "bfloat16"
    assert rows["aten.var_mean.correction"].values[0].dtype == "float32"


def _own(dump: Dump) -> set[str]:
    """Kernels of the program's own that were compiled."""
    assert {end.status for end in dump.rows(GraphEnd)} == {"compiled"}
    return {row.name for row in dump.rows(Kernel) if row.kind == "user_triton"}


def _told(dump: Dump, code: str) -> set[tuple[str, str | None]]:
    """What was told of what, and the line that asked for it."""
    name = re.compile(r"(?:the program ended .* Could not run '|the Triton kernel |)([\w.:]+)")
    found = [row for row in dump.rows(Remark) if row.code == code]
    return {(match[1], row.where) for row in found if (match := name.match(row.message))}


def test_a_kernel_of_its_own_ends_it_with_one_line(tmp_path: Path) -> None:
    done = inspected([PROGRAMS / "own_kernels.py"], tmp_path, options=["--target", "sm_90"])
    where = _line("own_kernels", "](x, twice, 1000)")
    dump = Dump(tmp_path / "dump" / "target_sm_90")

    assert done.returncode == 1
    assert done.stdout == "before\n"
    assert done.stderr.splitlines()[0] == (
        f"inspect-compile: {where}: the Triton kernel tuned_kernel cannot run without the GPU, and the program"
        f" ends here; to continue with zeros as its result: inspect-compile run --fake-kernels --target sm_90 …"
    )
    assert len(done.stderr.splitlines()) == 2
    assert _told(dump, "target-user-kernel") == {("tuned_kernel", where)}
    assert _own(dump) == {"tuned_kernel_0"}


def test_fake_kernels_need_a_target(tmp_path: Path) -> None:
    (tmp_path / "x.py").touch()
    done = inspected(["x.py"], tmp_path, options=["--fake-kernels"])

    assert done.returncode == 125
    assert "--target sm_90" in done.stderr
