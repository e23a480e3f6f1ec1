"""Split reductions on a GPU, as Inductor compiles them: what is found, and what the setting does that it names."""

from pathlib import Path

import pytest

from inspect_compile.analysis.findings.every import findings
from inspect_compile.commands import main
from inspect_compile.dump import Dump
from inspect_compile.graph import Graphs
from inspect_compile.tables.overview.findings import to_do_text
from tests.running import inspected

pytestmark = pytest.mark.targets

PROGRAM = Path(__file__).parent / "programs" / "several_statistics.py"


def test_second_stages_are_found_and_the_setting_makes_one_kernel(tmp_path: Path) -> None:
    inspected([PROGRAM], tmp_path, options=["--target", "sm_90"])
    dump = Dump(tmp_path / "dump" / "target_sm_90")
    (found,) = findings(Graphs(dump))

    assert (found.kind, found.knob) == ("second-stages", "triton.cooperative_reductions")
    assert found.parts[0].where is not None
    assert found.parts[0].where.line == 8
    assert found.seconds == pytest.approx(3 * 2e-6), "of four launches three"

    assert main(["replay", str(tmp_path / "dump"), "--config", f"{found.knob}=True"]) == 0
    (tried,) = findings(Graphs(Dump(tmp_path / "dump" / "target_sm_90")))
    assert "was tried (replay 1): 3 → 1 kernel," in to_do_text(tried)
