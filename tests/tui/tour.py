"""The stops of docs/tour.md: which dump, which keys, what is to be seen. Pictures and tests are made of them."""

import shutil
from pathlib import Path
from typing import Final, NamedTuple

from textual.pilot import Pilot

from inspect_compile.analysis.compare.side_by_side import Side
from inspect_compile.dump import Dump
from inspect_compile.tui.app import InspectApp
from tests.tui.checked import with_launches
from tests.tui.driving import RECORDED, TESTS, press, typed_at_once, until

SIZE: Final = (110, 28)
_NAMED: Final = ("enter", "tab", "down")
_DUMPS: Final = ("walks", "mixed")


class Stop(NamedTuple):
    """One picture."""

    name: str
    keys: tuple[str, ...] = ()
    """From the overview on; keys of more than one letter that are no names are typed."""
    sees: tuple[str, ...] = ()
    """What is to be read then; of two dumps the first of it before any key."""
    dump: str = "walks"
    size: tuple[int, int] = SIZE


STOPS: Final = (
    Stop("overview", sees=("Where the bytes go", "▲ 53.3 s of compiling")),
    Stop("finding", ("5",), ("graph break: Python runs this line", "to do")),
    Stop("why", ("1", "5", "s", "s"), ("softmax · walks.py:17", "sum · walks.py:18", "2.1 MB apart: softmax × sum")),
    Stop("source", ("g", "cpp_fused_gelu_mul_sum_1", "enter", "tab", "w"), ("erf", "for(")),
    Stop("cost", ("7",), ("FLOP",)),
    Stop("memory", ("8",), ("4,456,448 B live after line 226 (peak)",)),
    Stop("numerics", ("x",), ("wrong",), "checked"),
    Stop("diff", ("down",) * 3, ("1 kernel differs", "for("), "old new"),
)
PANES: Final = Stop("../tui", ("1", "/", "rows, columns = ", "enter", "6", "t"), ("softmax",), "mixed", (160, 38))
"""The picture of docs/tui.md."""
MOVING: Final = {
    "overview": "inspect-compile open walks: what to do first, and which lines cost most",
    "why": "5 s s: why two operations are not one kernel",
    "source": "g and its name, w: the node and the line of each statement of a kernel",
    "numerics": "x: which kernel is wrong (another program, with planted errors)",
}
"""The stops of the README's moving picture: their titles name the keys that lead there and the question."""


def prepare(folder: Path) -> None:
    """Put the recorded dumps and their programs into a folder, which must be the current one when a stop is drawn."""
    for name in _DUMPS:
        shutil.copytree(RECORDED.parent / name, folder / name)
        shutil.copy(TESTS / "tui" / "programs" / f"{name}.py", folder)
    shutil.copytree(RECORDED, folder / "checked")
    for name in ("old", "new"):
        shutil.copytree(RECORDED.parent / "walks", folder / name)
    changed = next(folder.glob("new/torchinductor/model__0*/kernels/*gelu_mul_sum*/source.cpp"))
    changed.write_text(changed.read_text("utf-8").replace("0.7071067811865476", "0.70710678"), "utf-8")


def app_of(stop: Stop) -> InspectApp:
    """The app on the dumps of a stop."""
    if stop.dump == "checked":
        return InspectApp(with_launches(Dump(Path("checked"))))
    names = stop.dump.split()
    if len(names) == 1:
        return InspectApp(Dump(Path(stop.dump)))
    sides = [Side(name, Dump(Path(name))) for name in names]
    return InspectApp(sides[0].dump, beside=(sides, f"inspect-compile diff {stop.dump}"))


async def go(pilot: Pilot[None], stop: Stop) -> str:
    """Press its keys; returns what is to be read."""
    if " " in stop.dump:
        await until(pilot, lambda: stop.sees[0] in on_screen(pilot))
        await pilot.press(*stop.keys)
        await until(pilot, lambda: all(words in on_screen(pilot) for words in stop.sees))
        return on_screen(pilot)
    for key in stop.keys:
        await (typed_at_once(pilot, *key) if len(key) > 1 and key not in _NAMED else press(pilot, key))
    await press(pilot)
    return on_screen(pilot)


def on_screen(pilot: Pilot[None]) -> str:
    """Everything that is to be read, words apart by one space."""
    strips = pilot.app.screen._compositor.render_strips()
    return " ".join(" ".join(strip.text for strip in strips).replace("▏", " ").split())
