"""The texts that are made here, in less time, say what torch's own say of the same objects."""

import json
import subprocess
import sys
from pathlib import Path

import torch

PROGRAM = Path(__file__).parents[1] / "programs" / "texts.py"


def test_texts_are_torchs_own() -> None:
    done = subprocess.run([sys.executable, PROGRAM], capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)

    assert not [what for what in seen if what.startswith("other")], done.stderr
    assert seen["loops"] > 40
    assert seen["value"] > 60
    assert seen["schedule"] == 3
    assert seen["body"] > 20
    kinds = ("SchedulerNode", "ExternKernelSchedulerNode", "FusedSchedulerNode")
    # The schedulers of other torches print other lines, and are left to print them.
    is_known = torch.torch_version.TorchVersion(torch.__version__) >= "2.13"
    assert {kind: seen[f"quick {kind}"] for kind in kinds} == dict.fromkeys(kinds, is_known)
