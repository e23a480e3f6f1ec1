"""First paint of the app, against an empty Textual app: `python benchmarks/bench_tui.py [DUMP …]`.

Each app starts in a new interpreter on a pty of 160 × 50, and is killed when the terminal gets the text that is waited
for: told are its CPU seconds up to then, which other work on the machine disturbs least, the seconds that passed, and
the most memory that it held. Without a DUMP, a synthetic one of 10,000 nodes, with its derived files. Rounds alternate.

First paint is the app without anything of the dump; the rows of the overview are the first rows that are seen; those of
a graph come after a key that is pressed then.

Seen on two cores that other work shared (7 rounds, CPU against the empty app; November 2026, torch 2.13, Python 3.11):

    10,000 nodes   first paint 1.28×   overview 1.98×   48 MB
    GPT-2, 12      first paint 1.29×   overview 1.78×   45 MB

Medians of one run and the next differ by 0.2× there.
"""

import os
import pty
import re
import select
import signal
import statistics
import struct
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

from inspect_compile.dump import open_dump
from inspect_compile.finish import ensure_finished

ROUNDS = 15
PATIENCE = 30.0
PAINTED, SEEN = b"Kernels", b"accounted for"
"""In the bar of the views; in the last line of the overview."""

EMPTY = """
from textual.app import App
from textual.widgets import Static
class Empty(App):
    def compose(self):
        yield Static("painted")
Empty().run()
"""

OURS = """
import sys
from pathlib import Path
from inspect_compile.dump import open_dump
from inspect_compile.tui.app import InspectApp
InspectApp(open_dump(Path({dump!r})), None).run()
"""


class Contestant(NamedTuple):
    """An app, and the text (a pattern) whose arrival on the terminal is timed."""

    name: str
    mark: str
    code: str
    text: bytes
    keys: bytes = b""
    """Pressed once the overview is there."""


class Measured(NamedTuple):
    """One run of an app."""

    cpu: float
    passed: float
    megabytes: float


def measured(of: Contestant) -> Measured:
    """Run the app until its text was written."""
    started = time.perf_counter()
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # else every module is compiled at each start
        os.environ.update(TERM="xterm-256color", COLUMNS="160", LINES="50")
        os.execv(sys.executable, [sys.executable, "-c", of.code])
    _resize(terminal)
    written, keys = b"", of.keys
    try:
        while not re.search(of.text, written):
            if keys and SEEN in written:
                os.write(terminal, keys)
                keys = b""
            if time.perf_counter() - started > PATIENCE:
                sys.exit(f"{of.name}: {of.text!r} was not drawn")
            if not select.select([terminal], [], [], 0.5)[0]:
                continue
            try:
                written += os.read(terminal, 1 << 16)
            except OSError:
                sys.exit(f"an app ended before it was drawn; it wrote:\n{written.decode('utf-8', 'replace')}")
    finally:
        passed = time.perf_counter() - started
        os.kill(pid, signal.SIGKILL)
        _, _, used = os.wait4(pid, 0)
        os.close(terminal)
    return Measured(used.ru_utime + used.ru_stime, passed, used.ru_maxrss / 1024)


def _resize(terminal: int) -> None:
    import fcntl
    import termios

    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 160, 0, 0))


def main() -> None:
    """Measure and print a table."""
    with tempfile.TemporaryDirectory() as folder:
        dumps = [Path(name) for name in sys.argv[1:]]
        if not dumps:
            from synthetic_dump import make

            make(Path(folder) / "nodes-10000", 10_000)
            dumps = [Path(folder) / "nodes-10000"]
            ensure_finished(open_dump(dumps[0]))
        contestants = [Contestant("empty Textual app", "first paint", EMPTY, b"painted")]
        for dump in dumps:
            code = OURS.format(dump=str(dump))
            contestants.append(Contestant(dump.name, "first paint", code, PAINTED))
            contestants.append(Contestant(dump.name, "overview", code, SEEN))
            contestants.append(Contestant(dump.name, "kernels", code, rb"(?:cpp|triton)_\w*fused", b"6"))
        runs: dict[Contestant, list[Measured]] = {of: [] for of in contestants}
        for _ in range(ROUNDS):
            for of in contestants:
                runs[of].append(measured(of))
    base = statistics.median(run.cpu for run in runs[contestants[0]])
    for of, found in runs.items():
        cpu = [run.cpu * 1000 for run in found]
        middle, passed = statistics.median(cpu), statistics.median(run.passed for run in found)
        most = max(run.megabytes for run in found)
        sys.stdout.write(
            f"{of.name:20} {of.mark:12} CPU {middle:5.0f} ms ({min(cpu):.0f}–{max(cpu):.0f})  "
            f"{middle / base / 1000:.2f}×   passed {passed * 1000:5.0f} ms   {most:.0f} MB\n"
        )


if __name__ == "__main__":
    main()
