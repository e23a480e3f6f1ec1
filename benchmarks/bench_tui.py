"""First paint of the app, against an empty Textual app: `python benchmarks/bench_tui.py [DUMP …]`.

Each app starts in a new interpreter on a pty of 160 × 50; the clock runs from before that to the moment when the
terminal gets the text that is waited for. Without a DUMP, a synthetic one of 10,000 nodes. Rounds alternate.
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

ROUNDS = 15
PATIENCE = 30.0

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
    """An app, and the texts (patterns) whose arrival on the terminal is timed."""

    name: str
    code: str
    marks: tuple[tuple[str, bytes], ...]


def seconds_to(code: str, marks: tuple[tuple[str, bytes], ...]) -> list[float]:
    """Seconds until each of the texts was written, in one run of `code`."""
    started = time.perf_counter()
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm-256color", COLUMNS="160", LINES="50")
        os.execv(sys.executable, [sys.executable, "-c", code])
    _resize(terminal)
    written = b""
    found: dict[str, float] = {}
    try:
        while len(found) < len(marks) and time.perf_counter() - started < PATIENCE:
            if not select.select([terminal], [], [], 0.5)[0]:
                continue
            try:
                written += os.read(terminal, 1 << 16)
            except OSError:
                sys.exit(f"an app ended before it was drawn; it wrote:\n{written.decode('utf-8', 'replace')}")
            now = time.perf_counter() - started
            for name, text in marks:
                if name not in found and re.search(text, written):
                    found[name] = now
    finally:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
        os.close(terminal)
    return [found.get(name, float("nan")) for name, _ in marks]


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
        contestants = [Contestant("empty Textual app", EMPTY, (("first paint", b"painted"),))]
        for dump in dumps:
            marks = (("first paint", b"Kernels"), ("rows seen", rb"cpp_fused"))
            contestants.append(Contestant(dump.name, OURS.format(dump=str(dump)), marks))
        times: dict[tuple[str, str], list[float]] = {}
        for _ in range(ROUNDS):
            for contestant in contestants:
                for (name, _), seconds in zip(
                    contestant.marks, seconds_to(contestant.code, contestant.marks), strict=True
                ):
                    times.setdefault((contestant.name, name), []).append(seconds)
    base = statistics.median(times["empty Textual app", "first paint"])
    for (contestant_name, mark), seconds_of in times.items():
        middle = statistics.median(seconds_of)
        spread = f"{min(seconds_of) * 1000:.0f}–{max(seconds_of) * 1000:.0f}"
        sys.stdout.write(f"{contestant_name:20} {mark:12} {middle * 1000:5.0f} ms ({spread})  {middle / base:.2f}×\n")


if __name__ == "__main__":
    main()
