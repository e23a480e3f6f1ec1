"""The texts that are made here, in less time, say what torch's own say of the same objects."""

import json
import subprocess
import sys
from pathlib import Path

PROGRAM = Path(__file__).parent / "programs" / "texts.py"


def test_texts_are_torchs_own() -> None:
    done = subprocess.run([sys.executable, PROGRAM], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)

    assert not [what for what in seen if what.startswith("other")], done.stderr
    assert seen["loops"] > 40
    assert seen["value"] > 60
    assert seen["schedule"] == 3
    assert seen["body"] > 20
    assert {"quick SchedulerNode", "quick ExternKernelSchedulerNode", "quick FusedSchedulerNode"} <= seen.keys()
