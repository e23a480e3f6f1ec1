"""What `show` costs, against an interpreter that imports msgspec and rich: `python benchmarks/bench_show.py DUMP
[TABLE …]`. CPU seconds of the process, in turns, the least of `--turns`.

The dump must be one that this version has recorded: of another, nothing that it keeps is taken. Bytecode is kept, as it
is where the package is installed, whatever PYTHONDONTWRITEBYTECODE says.

Seen on two cores that other work shared (November 2026, torch 2.13, Python 3.11, an editable installation, which takes
8 ms of each), GPT-2 of 12 layers: the interpreter 0.057 s, the overview 1.85 times that, `graphs` 1.7, `findings` 1.8,
`kernels` 2.2. Before findings and graphs were taken from what the dump keeps, `findings` took 2.9 and `graphs` 2.8.
"""

import argparse
import os
import resource
import subprocess
import sys

PLAIN = "import msgspec, rich.console, rich.table, rich.text"
TABLES = ("", "graphs", "findings", "kernels")
"""The first is the overview."""


def cpu_seconds(command: list[str]) -> float:
    """Of a process that ends well."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, env=environment)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description="What `show` costs.")
    parser.add_argument("dump")
    parser.add_argument("tables", nargs="*", default=TABLES)
    parser.add_argument("--turns", type=int, default=9)
    options = parser.parse_args()
    commands = {"msgspec and rich": [sys.executable, "-c", PLAIN]}
    for table in options.tables:
        words = [sys.executable, "-m", "inspect_compile", "show", options.dump, *filter(None, [table])]
        commands[f"show {table}".strip()] = words
    runs: dict[str, list[float]] = {name: [] for name in commands}
    for turn in range(options.turns + 1):
        for name, command in commands.items():
            took = cpu_seconds(command)
            if turn:  # the first one fills the caches
                runs[name].append(took)
    least = {name: min(seconds) for name, seconds in runs.items()}
    for name, seconds in least.items():
        print(f"{name:20} {seconds:.3f} s  {seconds / least['msgspec and rich']:5.2f}×")


if __name__ == "__main__":
    main()
