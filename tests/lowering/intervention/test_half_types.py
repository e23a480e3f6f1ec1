"""`numerics` in half precision: mistakes that rounding to a half type hides, and what eager alone makes infinite."""

from pathlib import Path

import torch

from inspect_compile.analysis.numerics.nonfinite import nonfinite_rows
from inspect_compile.analysis.numerics.verdicts import judged
from inspect_compile.analysis.overview.remarks import remark_rows
from inspect_compile.dump import Dump
from inspect_compile.graph import Graphs
from inspect_compile.knowledge.numerics.verdicts import NEARER, WORSE, WRONG
from tests.private_names import version
from tests.running import COMMAND, run

PROGRAM = Path(__file__).parent / "programs" / "half_types.py"


def checked(kind: str, tmp_path: Path, inductor_cache: Path) -> tuple[int, str, Dump]:
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}
    done = run([*COMMAND, "numerics", "--dump", "dump", PROGRAM, kind], tmp_path, environment=environment)
    return done.returncode, done.stderr, Dump(tmp_path / "dump")


def test_a_mistake_in_float32_is_wrong(tmp_path: Path, inductor_cache: Path) -> None:
    """A factor in a value of many that eager rounds; positions that a pass scales by a hundredth, which is less than
    rounding in the result.
    """
    status, said, dump = checked("wrong", tmp_path, inductor_cache)

    assert status == 1, said
    wrong = [row for row in judged(Graphs(dump)) if row.verdict == WRONG]
    assert "rsqrt_1" in {row.node for row in wrong if row.kernel and row.measured.dtype == "float32"}
    (result,) = (row for row in wrong if row.level)
    assert (result.level, result.times_rounding) == ("post_grad_custom_post_pass", None)
    assert result.measured.exact_apart is not None
    assert 1e-3 < result.measured.exact_apart < 0.1


def test_a_mistake_in_float32_that_is_less_than_a_rounding_is_wrong(tmp_path: Path, inductor_cache: Path) -> None:
    """What such a kernel stores is the exact value, rounded once: in each element, or it computes something else."""
    status, said, dump = checked("hardly", tmp_path, inductor_cache)

    assert status == 1, said
    wrong = [row for row in judged(Graphs(dump)) if row.verdict == WRONG]
    assert {(row.kernel != "", row.measured.dtype) for row in wrong} == {(True, "bfloat16"), (True, "float16")}
    assert all(row.measured.not_once is not None and row.measured.not_once > 0.03 for row in wrong)
    assert "which is not what log1p is" in said
    assert all(one.where is not None for one in wrong)


def test_a_kernel_that_rounds_on_the_way_is_not_accused(tmp_path: Path, inductor_cache: Path) -> None:
    status, said, dump = checked("twice", tmp_path, inductor_cache)

    assert status == 0, said
    assert not [row for row in judged(Graphs(dump)) if row.measured.not_once is not None]


def test_what_is_right_is_not_accused_and_eager_is_named(tmp_path: Path, inductor_cache: Path) -> None:
    status, said, dump = checked("right", tmp_path, inductor_cache)

    assert status == 0, said
    rows = list(judged(Graphs(dump)))
    assert not {row.verdict for row in rows} & {WRONG, WORSE}
    if version(torch.__version__) >= (2, 15):  # its kernels leave the finite numbers where eager does
        return
    (alone,) = (row for row in rows if row.measured.eager_alone and row.kernel)
    assert (alone.verdict, alone.measured.eager_alone, alone.measured.worst) == (NEARER, 15, (0, 0))
    made = [(row.kind, row.node, row.of_node) for row in nonfinite_rows(Graphs(dump))]
    assert made == [("Inf", "rsqrt", "mul"), ("NaN", "mul", "mul")]
    assert all(row.where is not None and "torch.rsqrt" in str(row.where.code) for row in nonfinite_rows(Graphs(dump)))
    assert "the compiled code is right: at [0, 0] 0, exact 0" in said
    assert not [row for row in remark_rows(Graphs(dump)) if row.code == "numerics-not-finite"]
