"""Makes the dumps that the tests of the TUI look at: `python -m tests.tui.record mixed walks` in the repository's root.

Recordings of programs/mixed.py and programs/walks.py without what no view shows, and without paths of the machine that
they were made on.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec
import torch

from inspect_compile.dump import Dump, Writer, paths
from tests.running import settle

HERE = Path(__file__).resolve().parent
DATA = HERE.parent / "data" / "tui"
LEFT_OUT = (
    "guards.jsonl",
    "probes.jsonl",
    paths.FX_RUNNABLE,
    paths.FX_TRANSFORMED,
    paths.LOWERING,
    paths.FUSION,
    paths.KERNELS_TEXT,
    paths.FLOPS,
    paths.MEMORY,
    paths.KERNEL_MAP,
    paths.PROVENANCE,
    paths.CLAIMED,
    f"{paths.SCHEDULE_PRE_FUSION}.dot",
    f"{paths.SCHEDULE_POST_FUSION}.dot",
)


def record(name: str) -> None:
    """Record, strip, keep."""
    shutil.rmtree(DATA / name, ignore_errors=True)
    DATA.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / f"{name}.py"
        shutil.copy(HERE / "programs" / script.name, script)
        command = [sys.executable, "-m", "inspect_compile", "run", "--no-tui", "--dump", name, script.name]
        subprocess.run(
            command, cwd=folder, check=True, env={**os.environ, "TORCHINDUCTOR_CACHE_DIR": f"{folder}/cache"}
        )
        recorded = Path(folder) / name
        settle(recorded)
        for path in sorted(recorded.rglob("*")):
            if path.name in LEFT_OUT:
                path.unlink()
            elif path.is_file():
                text = path.read_text()
                for machine, told in (
                    (f"{folder}/cache", "/tmp/torchinductor_user"),
                    (f"{folder}/", ""),
                    (str(Path(torch.__file__).parent.parent), "/usr/lib/python3/site-packages"),
                ):
                    text = text.replace(machine, told)
                path.write_text(text)
        shutil.copytree(recorded, DATA / name)
    run = Dump(DATA / name).run
    started = "2026-01-01T12:00:00+00:00"
    quiet = msgspec.structs.replace(
        run, cwd="", pid=1, parent_pid=1, seconds=10.0, started=started, born=None, environment={}
    )
    Writer(DATA / name).run(quiet)


if __name__ == "__main__":
    for chosen in sys.argv[1:]:
        record(chosen)
