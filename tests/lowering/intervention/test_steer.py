"""What intervenes in fusion: a pair that is denied stays apart, and of all others the first ones alone are fused."""

import re
import sys
from pathlib import Path

import pytest

from inspect_compile.child.setting import Setting
from inspect_compile.commands.run import first_record
from inspect_compile.dump import Dump
from inspect_compile.facts import Operation
from inspect_compile.graph import CompiledGraph
from inspect_compile.graph.fusion.ledger import candidates
from inspect_compile.launch.bisect import Check
from tests.running import inspected

PROGRAM = Path(__file__).parents[1] / "programs" / "steered.py"
GRAPH = "model__0_inference_0.0"


@pytest.mark.harmless
def test_denials_and_a_limit(tmp_path: Path, no_graphs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCHINDUCTOR_CACHE_DIR", str(no_graphs))
    monkeypatch.setenv("TORCH_LOGS", "fusion")
    words = [sys.executable, str(PROGRAM)]

    def begin(root: Path, setting: Setting) -> None:
        first_record(root, words, setting)

    done = Check(sys.executable, words, tmp_path, plain=True).run(
        "steered", begin, limit=1, deny=[(GRAPH, ["op0"], ["op1"])]
    )

    log = done.log.read_text()
    assert (done.status, done.trouble) == (0, ""), log
    ((root, (counted,)),) = done.parts
    dump = Dump(root)
    attempts = candidates(CompiledGraph(dump, dump.outermost()[0].graph))
    assert [(row.a, row.b, row.into) for row in attempts if row.verdict == "fused"] == [
        (counted.a, counted.b, counted.into)
    ]
    assert (counted.graph, counted.number) == (GRAPH, 1)
    told = [(row.a, row.b, row.code) for row in attempts if row.verdict == "refused"]
    logged = re.findall(r"cannot fuse (\S+) with (\S+): (denied by user|beyond limit of fusions)$", log, re.MULTILINE)
    assert {reason for _, _, reason in logged} == {"denied by user", "beyond limit of fusions"}
    assert [row for row in told if row[2] in ("denied-by-user", "beyond-limit-of-fusions")] == [
        (a, b, reason.replace(" ", "-")) for a, b, reason in logged
    ]
    assert {(a, b) for a, b, code in told if code == "denied-by-user"} >= {("op0", "op1")}
    assert not [row for row in dump.rows(Operation) if {"op0", "op1"} <= set(row.members)]
    assert (dump.run.denied, dump.run.fusions) == ((("op0", "op1"),), 1)
    assert not [*no_graphs.glob("fxgraph/*/*"), *no_graphs.glob("aotautograd/*/*")]


@pytest.mark.harmless
def test_a_plain_run_does_not_load_it(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    loaded = "'inspect_compile.lowering.intervention.steer' in sys.modules"
    script.write_text(f"import sys, torch._inductor.scheduler\nsys.exit({loaded})\n")

    done = inspected([script], tmp_path)

    assert done.returncode == 0
    assert Dump(tmp_path / "dump").run.fusions is None
