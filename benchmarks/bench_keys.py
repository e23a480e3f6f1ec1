"""What a key costs, against an empty Textual app: `python benchmarks/bench_keys.py [DUMP]`.

The app runs without a terminal, on a screen of 160 × 50. Of each key: the CPU seconds of the user interface's thread
from the key until nothing more is to be done, and the longest time for which that thread did one thing, during which no
other key is answered. Last the most memory that was held. Without a DUMP, a synthetic one of 10,000 nodes.
"""

import asyncio
import resource
import statistics
import sys
import tempfile
import time
from asyncio.events import Handle
from pathlib import Path

from textual.app import App, ComposeResult
from textual.pilot import Pilot
from textual.widgets import Static

from inspect_compile.dump import open_dump
from inspect_compile.tui.app import InspectApp

SIZE = (160, 50)
TIMES = 30
VIEWS = "1234567890x"
IN_EACH = ("f12", "down", "up", "pagedown", "end", "home", "m", "[", "]")
"""Keys that are pressed in every view; the first does nothing: what it costs is the pilot's, who asks every widget."""
OF_THE_APP = ("w", "t", "T", "s", "o", "escape", "f", "z", "escape", "g", "escape", "question_mark", "escape")
"""Keys after each other, in the view of the FX graph."""
NAMES = {"[": "left_square_bracket", "]": "right_square_bracket"}


class Empty(App[None]):
    """An app with nothing but a text."""

    def compose(self) -> ComposeResult:
        """A text."""
        yield Static("nothing")


class Clock:
    """Times what the loop runs."""

    def __init__(self) -> None:
        self.longest = 0.0

    def install(self) -> None:
        """From now on."""
        run = Handle._run

        def timed(handle: Handle) -> None:
            started = time.thread_time()
            run(handle)
            self.longest = max(self.longest, time.thread_time() - started)

        Handle._run = timed  # type: ignore[method-assign,assignment]


async def pressed(pilot: Pilot[None], key: str, clock: Clock) -> tuple[float, float]:
    """CPU seconds of this thread for a key, and the longest piece of them."""
    clock.longest, started = 0.0, time.thread_time()
    await pilot.press(NAMES.get(key, key))
    while any(not worker.is_finished for worker in pilot.app.workers if worker.group != "program output"):
        await asyncio.sleep(0.002)
    await pilot.pause()
    return time.thread_time() - started, clock.longest


async def rest(pilot: Pilot[None]) -> None:
    """Wait until what was begun is done."""
    calm = 0
    while calm < 5:
        await pilot.pause(0.02)
        calm = calm + 1 if all(one.is_finished for one in pilot.app.workers if one.group != "program output") else 0


def say(view: str, key: str, runs: list[tuple[float, float]], base: float) -> None:
    """One row."""
    middle = statistics.median(cpu for cpu, _ in runs)
    longest = max(piece for _, piece in runs) * 1000
    mark = "  ← above 16 ms" if longest > 16 else ""
    sys.stdout.write(
        f"{view:8} {key:15} {middle * 1000:7.2f} ms  {middle / base:5.2f}×  longest {longest:6.1f} ms{mark}\n"
    )


async def main(root: Path) -> None:
    """Measure and print a table."""
    clock = Clock()
    clock.install()
    empty = Empty()
    async with empty.run_test(size=SIZE) as pilot:
        runs = [await pressed(pilot, "down", clock) for _ in range(TIMES)]
        base = statistics.median(cpu for cpu, _ in runs)
        say("empty", "down", runs, base)
    app = InspectApp(open_dump(root))
    async with app.run_test(size=SIZE) as pilot:
        await rest(pilot)
        for view in VIEWS:
            say(view, f"first {view}", [await pressed(pilot, view, clock)], base)
            await rest(pilot)
            for key in IN_EACH:
                say(view, key, [await pressed(pilot, key, clock) for _ in range(TIMES)], base)
        await pilot.press("2")
        await rest(pilot)
        for key in OF_THE_APP:
            say("2", key, [await pressed(pilot, key, clock)], base)
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    sys.stdout.write(f"most memory {megabytes:.0f} MB\n")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        asyncio.run(main(Path(sys.argv[1])))
    else:
        from synthetic_dump import make

        with tempfile.TemporaryDirectory() as folder:
            make(Path(folder) / "nodes-10000", 10_000)
            asyncio.run(main(Path(folder) / "nodes-10000"))
