"""What recording costs a job that it is left on in: `python3 benchmarks/bench_soak.py [--minutes 30]`.

Runs `programs/soaked.py`, which calls a compiled function 10,000 times and compiles it anew 50 times, alone and with
INSPECT_COMPILE=1, at the same time, each with caches of its own. Prints CPU seconds and memory of both, how much more
of one processor the recorded one has taken, and what its dump would grow by in a day.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROGRAM = HERE / "programs" / "soaked.py"
DAY = 86400


def main() -> None:
    """Run both, and print what they took."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--minutes", type=float, default=30.0)
    minutes = parser.parse_args().minutes
    with tempfile.TemporaryDirectory() as folder:
        sides = {
            name: begun(Path(folder, name), minutes, is_recorded=name == "recorded") for name in ("alone", "recorded")
        }
        rows = {name: [json.loads(line) for line in side.communicate()[0].splitlines()] for name, side in sides.items()}
        dump = sum(file.stat().st_size for file in Path(folder, "recorded", "dumps").rglob("*") if file.is_file())
    print("|  | CPU s until the first call | CPU s from there on | memory at the first tenth | at the end |")
    print("|---|---|---|---|---|")
    for name, told in rows.items():
        first, second, last = told[0], told[1], told[-1]
        print(
            f"| {name} | {first['cpu']:.1f} | {last['cpu'] - first['cpu']:.1f} | "
            f"{second['bytes'] / 1e6:.0f} MB | {last['bytes'] / 1e6:.0f} MB |"
        )
    alone, recorded = (rows[name] for name in ("alone", "recorded"))
    more = (recorded[-1]["cpu"] - recorded[0]["cpu"]) - (alone[-1]["cpu"] - alone[0]["cpu"])
    growth = [
        (told[-1]["bytes"] - told[1]["bytes"]) / (told[-1]["seconds"] - told[1]["seconds"])
        for told in (alone, recorded)
    ]
    print(
        f"{100 * more / recorded[-1]['seconds']:.2f} % more of one processor; memory grows by "
        f"{(growth[1] - growth[0]) * DAY / 1e6:+.1f} MB a day more; the dump has {dump / 1e6:.1f} MB"
    )


def begun(folder: Path, minutes: float, *, is_recorded: bool) -> "subprocess.Popen[str]":
    """The program, in a folder of its own."""
    folder.mkdir()
    own = {"INSPECT_COMPILE": "1", "INSPECT_COMPILE_DUMPS": str(folder / "dumps")} if is_recorded else {}
    environment = {name: value for name, value in os.environ.items() if not name.startswith("INSPECT_COMPILE")}
    return subprocess.Popen(
        [sys.executable, str(PROGRAM), str(minutes)],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
        env={**environment, "TORCHINDUCTOR_CACHE_DIR": str(folder / "cache"), **own},
    )


if __name__ == "__main__":
    main()
