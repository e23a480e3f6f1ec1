"""`numerics --nonfinite`: what makes the first NaN and Inf is named, and the program runs as without."""

import math
from pathlib import Path

from inspect_compile.analysis.numerics.nonfinite import NonFiniteRow, nonfinite_rows
from inspect_compile.analysis.overview.remarks import remark_rows
from inspect_compile.dump import Dump
from inspect_compile.graph import Graphs
from tests.running import COMMAND, plain, run

PROGRAMS = Path(__file__).parent / "programs"


def test_what_makes_them_is_named(tmp_path: Path, inductor_cache: Path) -> None:
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}
    program = PROGRAMS / "not_finite.py"
    alone = plain([program, "random"], tmp_path, environment=environment)

    done = run(
        [*COMMAND, "numerics", "--nonfinite", "--dump", "dump", program, "random"], tmp_path, environment=environment
    )

    assert (done.returncode, done.stdout) == (1, alone.stdout), done.stderr
    dump = Dump(tmp_path / "dump")
    rows = {line_of(row, program): row for row in nonfinite_rows(Graphs(dump))}
    attend = rows["return torch.softmax(scores, -1) @ weight.t()"]
    assert (attend.kind, attend.call, attend.node, attend.element) == ("NaN", 2, "sub", (2, 0))
    assert [(one.node, one.value) for one in attend.operands] == [("where", "-inf"), ("amax", "-inf")]
    assert attend.from_inf == "where"
    assert attend.count == 8
    assert " - " in attend.statement
    logarithm = rows["return torch.log(torch.relu(x) * 2 - 1.0).sum(0)"]
    assert (logarithm.kind, logarithm.call, logarithm.node) == ("NaN", 2, "log")
    assert float(logarithm.operands[0].value) < 0
    assert "log(" in logarithm.statement
    narrow = rows["return (x * 300).half().exp().sum()"]
    assert (narrow.kind, narrow.call, narrow.node, narrow.dtype, narrow.element) == ("Inf", 2, "exp", "float16", (1,))
    assert math.exp(float(narrow.operands[0].value)) > 65504
    in_place = rows["second = first / (y - y.clamp(max=10))"]
    assert (in_place.kind, in_place.node, in_place.operands[1].value) == ("Inf", "div", "0.0")
    in_order = rows["return torch.sort(torch.log(x - 1))[0] * 2"]
    assert (in_order.kind, in_order.node, in_order.operands[0].value) == ("NaN", "log", "-0.5")
    came_in = next(row for row in nonfinite_rows(Graphs(dump)) if row.came_in)
    assert (came_in.kind, came_in.kernel, came_in.node) == ("Inf", "", "")
    assert len(list(nonfinite_rows(Graphs(dump)))) == 6
    about = [row for row in remark_rows(Graphs(dump)) if row.code == "numerics-not-finite"]
    assert [row.graph for row in about] == [row.graph for row in nonfinite_rows(Graphs(dump))]
    page = run([*COMMAND, "show", "dump", "node", "log", "--graph", logarithm.graph], tmp_path).stdout
    assert "numerics-not-finite a result has NaN in call 2: log makes it" in " ".join(page.split())
    assert done.stderr.count("\nfirst ") + done.stderr.startswith("first ") == 6
    assert "the largest float16 is 65504" in done.stderr


def line_of(row: NonFiniteRow, program: Path) -> str:
    """The source line that is named."""
    if row.where is None:
        return ""
    return program.read_text("utf-8").splitlines()[row.where.line - 1].strip()


def test_finite_results_are_no_findings(tmp_path: Path, inductor_cache: Path) -> None:
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}
    words: list[str | Path] = [*COMMAND, "numerics", "--nonfinite", "--dump", "dump", PROGRAMS / "forms.py"]

    done = run(words, tmp_path, environment=environment)

    assert done.returncode == 0, done.stderr
    assert "no result of a compiled graph has NaN or Inf" in done.stderr
    assert list(nonfinite_rows(Graphs(Dump(tmp_path / "dump")))) == []
