"""What a key costs, against an empty Textual app: `python benchmarks/bench_keys.py [DUMP]`.

The app runs on a screen of 160 × 50 that draws into nothing. Of each key is told, of the thread that draws and answers
keys: the CPU time until something was drawn, until nothing more is to be done (the median and the most of 20, or of
`--times`), and the longest time for which it did one thing, during which no other key is answered. Last the most memory
that was held.
Without a DUMP, a synthetic one of 10,000 nodes. `--views 45` takes only these views.

Seen on two cores that other work shared (6 times each; November 2026, torch 2.13, Python 3.11), GPT-2 of 12 layers and
10,000 nodes alike: an empty app's key 0.7 ms, one that does nothing 1.0 ms (1.4 to 1.6×); a row up or down is drawn
after 2 to 7 ms, everything that depends on it after 2 to 32 ms (40 at most), in pieces of at most 15 ms; a page in
pieces of at most 18 ms. What lays out the screen anew (another view, `w`, `t`, a dialog) takes pieces of 17 to 75 ms,
and a row that stands for all 10,000 nodes one of 49 ms. Most memory after 20 times each key: 251 MB at 10,000 nodes.
"""

import argparse
import asyncio
import resource
import statistics
import sys
import tempfile
import time
from asyncio.events import Handle
from pathlib import Path
from typing import Any, NamedTuple, cast

from textual import events
from textual.app import App, ComposeResult
from textual.drivers.headless_driver import HeadlessDriver
from textual.message_pump import MessagePump
from textual.widgets import Static

from inspect_compile.dump import open_dump
from inspect_compile.tui.app import InspectApp

SIZE = (160, 50)
OUT = sys.stdout
"""An app that runs takes what is printed."""
VIEWS = "v1234567890x"
IN_EACH = ("f12", "down", "up", "pagedown", "end", "home", "m", "left_square_bracket", "right_square_bracket")
"""Keys that are pressed in every view; the first does nothing."""
OF_THE_APP = (
    *("w", "w", "t", "t", "T", "T", "s", "o", "escape", "f", "z", "escape", "g", "escape"),
    *("question_mark", "escape", "colon", "escape"),
)
"""Keys after each other, in the view of the FX graph."""


class Drawing(HeadlessDriver):
    """A terminal that takes everything that is drawn."""

    @property
    def is_headless(self) -> bool:
        """Not to Textual, which would else not put together what it draws."""
        return False


class Empty(App[None]):
    """An app with nothing but a text."""

    def compose(self) -> ComposeResult:
        """A text."""
        yield Static("nothing")


class Cost(NamedTuple):
    """CPU seconds of the drawing thread for one key."""

    until_drawn: float
    """0 if nothing was drawn."""
    whole: float
    longest: float


class Clock:
    """Times what the loop runs, but for what the benchmark itself does."""

    def __init__(self) -> None:
        self.whole = self.longest = self.until_drawn = self._own = self._began = 0.0

    def install(self) -> None:
        """From now on."""
        run, display = Handle._run, App._display

        def timed(handle: Handle) -> None:
            self._own, self._began = 0.0, time.thread_time()
            run(handle)
            took = time.thread_time() - self._began - self._own
            self.whole += took
            self.longest = max(self.longest, took)

        def displayed(app: App[Any], screen: Any, drawn: Any) -> None:
            display(app, screen, drawn)
            if drawn is not None and not self.until_drawn:
                self.until_drawn = self.whole + time.thread_time() - self._began - self._own

        Handle._run = timed  # type: ignore[method-assign,assignment]
        App._display = displayed  # type: ignore[method-assign,assignment]

    def start(self) -> None:
        """From zero."""
        self.whole = self.longest = self.until_drawn = 0.0

    def leave_out(self, since: float) -> None:
        """The time since then is the benchmark's own."""
        self._own += time.thread_time() - since


def at_work(app: App[None]) -> bool:
    """Whether anything waits to be done."""
    if any(not worker.is_finished for worker in app.workers if worker.group != "program output"):
        return True
    pumps: tuple[MessagePump, ...] = (app, *app.screen_stack, *app.screen.walk_children())
    if any(not pump._message_queue.empty() or pump._next_callbacks for pump in pumps):
        return True
    screen = app.screen
    return bool(screen._layout_required or screen._scroll_required or screen._repaint_required or screen._dirty_widgets)


async def rest(app: App[None], clock: Clock) -> None:
    """Wait until what was begun is done."""
    calm = 0
    while calm < 3:
        await asyncio.sleep(0.01)
        since = time.thread_time()
        calm = 0 if at_work(app) else calm + 1
        clock.leave_out(since)


async def pressed(app: App[None], key: str, clock: Clock) -> Cost:
    """What a key costs."""
    clock.start()
    event = events.Key(key, key if len(key) == 1 else None)
    event.set_sender(app)
    cast(HeadlessDriver, app._driver).send_message(event)
    await rest(app, clock)
    return Cost(clock.until_drawn, clock.whole, clock.longest)


def say(view: str, key: str, runs: list[Cost], base: float) -> None:
    """One row."""
    drawn = statistics.median(run.until_drawn for run in runs) * 1000
    whole = [run.whole * 1000 for run in runs]
    longest = max(run.longest for run in runs) * 1000
    mark = "  ← above 16 ms" if longest > 16 else ""
    middle = statistics.median(whole)
    OUT.write(
        f"{view:6} {key:22} drawn {drawn:6.2f}   all {middle:7.2f} (most {max(whole):7.2f}) ms  "
        f"{middle / base / 1000:6.2f}×  longest {longest:6.1f}{mark}\n"
    )
    OUT.flush()


async def main(root: Path, views: str, times: int) -> None:
    """Measure and print a table."""
    clock = Clock()
    clock.install()
    empty = Empty()
    empty.driver_class = Drawing
    async with empty.run_test(headless=False, size=SIZE):
        await rest(empty, clock)
        runs = [await pressed(empty, "down", clock) for _ in range(times)]
        base = statistics.median(run.whole for run in runs)
        say("empty", "down", runs, base)
    app = InspectApp(open_dump(root))
    app.driver_class = Drawing
    async with app.run_test(headless=False, size=SIZE):
        await rest(app, clock)
        for view in views:
            say(view, f"first {view}", [await pressed(app, view, clock)], base)
            for key in IN_EACH:
                say(view, key, [await pressed(app, key, clock) for _ in range(times)], base)
        await pressed(app, "2", clock)
        for key in OF_THE_APP:
            say("2", key, [await pressed(app, key, clock)], base)
    megabytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    OUT.write(f"most memory {megabytes:.0f} MB\n")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="What a key costs.")
    parser.add_argument("dump", nargs="?")
    parser.add_argument("--views", default=VIEWS)
    parser.add_argument("--times", type=int, default=20)
    options = parser.parse_args()
    if options.dump:
        asyncio.run(main(Path(options.dump), options.views, options.times))
    else:
        from synthetic_dump import make

        with tempfile.TemporaryDirectory() as folder:
            make(Path(folder) / "nodes-10000", 10_000)
            asyncio.run(main(Path(folder) / "nodes-10000", options.views, options.times))
