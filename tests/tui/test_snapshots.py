"""Pictures of the screens. `pytest --snapshot-update` takes them anew; look at them before they are committed."""

from collections.abc import Awaitable, Callable
from importlib.metadata import version
from pathlib import Path
from typing import Protocol

import pytest
from textual.app import App
from textual.pilot import Pilot

from inspect_compile.dump import Dump, Writer
from inspect_compile.facts import Frame, Graph, GraphBreak, GraphEnd, Location, Run
from inspect_compile.tui.app import InspectApp
from tests.tui.checked import with_finding, with_launches
from tests.tui.driving import go_to, press

DRAWN_WITH = {"textual": "8.2.8", "rich": "15.0.0"}
"""Other versions draw the same screen in another way."""

pytestmark = pytest.mark.skipif(
    any(version(name) != wanted for name, wanted in DRAWN_WITH.items()),
    reason=f"the pictures were taken with {DRAWN_WITH} (.ci/constraints.txt)",
)

NARROW, MEDIUM, WIDE = (80, 24), (120, 40), (200, 60)
SOFTMAX = "rows, columns = "


class Compare(Protocol):
    """pytest-textual-snapshot's fixture."""

    def __call__(
        self,
        app: App[None],
        *,
        terminal_size: tuple[int, int],
        run_before: Callable[[Pilot[None]], Awaitable[None]],
    ) -> bool: ...


def with_softmax_chosen(*keys: str) -> Callable[[Pilot[None]], Awaitable[None]]:
    """Choose the line with the softmaxes, then press `keys`."""

    async def before(pilot: Pilot[None]) -> None:
        await press(pilot, "1")
        go_to(pilot, "source-rows", SOFTMAX)
        await press(pilot, *keys)

    return before


def after(*keys: str) -> Callable[[Pilot[None]], Awaitable[None]]:
    """Press `keys`."""

    async def before(pilot: Pilot[None]) -> None:
        await press(pilot, *keys)

    return before


@pytest.mark.parametrize("size", [NARROW, MEDIUM, WIDE], ids=["narrow", "medium", "wide"])
def test_overview(mixed: Dump, snap_compare: Compare, size: tuple[int, int]) -> None:
    assert snap_compare(InspectApp(mixed), terminal_size=size, run_before=after())


@pytest.mark.parametrize("digit", "123456789")
def test_narrow(mixed: Dump, snap_compare: Compare, digit: str) -> None:
    assert snap_compare(InspectApp(mixed), terminal_size=NARROW, run_before=with_softmax_chosen(digit))


@pytest.mark.parametrize("digit", "1589")
def test_medium(mixed: Dump, snap_compare: Compare, digit: str) -> None:
    assert snap_compare(InspectApp(mixed), terminal_size=MEDIUM, run_before=with_softmax_chosen(digit))


@pytest.mark.parametrize("digit", "13478")
def test_wide(mixed: Dump, snap_compare: Compare, digit: str) -> None:
    assert snap_compare(InspectApp(mixed), terminal_size=WIDE, run_before=with_softmax_chosen(digit))


@pytest.mark.parametrize("size", [NARROW, MEDIUM, WIDE], ids=["narrow", "medium", "wide"])
def test_numerics(mixed: Dump, snap_compare: Compare, size: tuple[int, int]) -> None:
    app = InspectApp(with_launches(mixed))
    assert snap_compare(app, terminal_size=size, run_before=with_softmax_chosen("x"))


@pytest.mark.parametrize("size", [NARROW, MEDIUM], ids=["narrow", "medium"])
def test_not_a_number(mixed: Dump, snap_compare: Compare, size: tuple[int, int]) -> None:
    assert snap_compare(InspectApp(with_finding(mixed)), terminal_size=size, run_before=after("x"))


def test_nothing_checked(mixed: Dump, snap_compare: Compare) -> None:
    assert snap_compare(InspectApp(mixed), terminal_size=NARROW, run_before=after("x"))


def test_findings(mixed: Dump, snap_compare: Compare) -> None:
    assert snap_compare(InspectApp(mixed), terminal_size=MEDIUM, run_before=after("5", "s", "home"))


def test_missed_pairs(mixed: Dump, snap_compare: Compare) -> None:
    assert snap_compare(InspectApp(mixed), terminal_size=MEDIUM, run_before=after("5", "s", "s", "home"))


def test_run(mixed: Dump, snap_compare: Compare) -> None:
    assert snap_compare(InspectApp(mixed), terminal_size=NARROW, run_before=after("r", "home"))


def test_frame(mixed: Dump, snap_compare: Compare) -> None:
    assert snap_compare(InspectApp(mixed), terminal_size=NARROW, run_before=after("r", "home", "down"))


def test_help(mixed: Dump, snap_compare: Compare) -> None:
    assert snap_compare(InspectApp(mixed), terminal_size=NARROW, run_before=after("question_mark"))


def test_search(mixed: Dump, snap_compare: Compare) -> None:
    assert snap_compare(InspectApp(mixed), terminal_size=NARROW, run_before=after("2", "slash", *"mul"))


def test_without_the_tree(mixed: Dump, snap_compare: Compare) -> None:
    assert snap_compare(InspectApp(mixed), terminal_size=NARROW, run_before=with_softmax_chosen("2", "t"))


class Running:
    """A program that does nothing, and has not ended."""

    def output(self, offset: int) -> bytes:
        return b"epoch 1\r\nepoch 2  \x1b[32mloss 0.25\x1b[0m\r\n"[offset:]

    def write(self, keys: bytes) -> None: ...

    def resize(self, rows: int, columns: int) -> None: ...

    def status(self) -> int | None:
        return None

    def terminate(self) -> None: ...


@pytest.fixture
def empty(here: Path, monkeypatch: pytest.MonkeyPatch) -> Dump:
    """A dump of a program that runs, and has compiled nothing so far."""
    monkeypatch.setattr("inspect_compile.analysis.dumps.run_state._is_alive", lambda pid: True)
    run = Run(status="running", argv=("train.py",), pid=4242, versions={"torch": "2.13.0"}, cwd="/home/me")
    Writer(here / "empty").run(run)
    return Dump(Path("empty"))


def test_nothing_compiled_so_far(empty: Dump, snap_compare: Compare) -> None:
    assert snap_compare(InspectApp(empty, Running()), terminal_size=MEDIUM, run_before=after("0"))


def test_quit(empty: Dump, snap_compare: Compare) -> None:
    assert snap_compare(InspectApp(empty, Running()), terminal_size=NARROW, run_before=after("q"))


def test_failed(here: Path, snap_compare: Compare) -> None:
    writer = Writer(here / "failed")
    exception = "InvalidCxxCompiler: No working C++ compiler found in torch._inductor.config.cpp.cxx: (None, 'g++')"
    writer.run(Run(status="raised", argv=("train.py",), exit_code=1, exception=exception, device="cpu"))
    where = Location("/home/me/train.py", 12, "step", "print(loss)")
    writer.add(Frame(graph="0/0", function="step", file="/home/me/train.py", line=9, status="failed", reason=exception))
    writer.add(GraphBreak(graph="0/0", reason="a call of print", where=where, hints=("take it out of the function",)))
    writer.add(Graph(graph="model__0_forward_1.0", kind="forward", compile_id="0/0", device="cpu"))
    writer.add(GraphEnd(graph="model__0_forward_1.0", status="failed", seconds=1.0, exception=exception))
    writer.flush()
    assert snap_compare(InspectApp(Dump(Path("failed"))), terminal_size=NARROW, run_before=after())


@pytest.mark.parametrize(
    ("size", "digit"), [(NARROW, "6"), (MEDIUM, "5"), (WIDE, "1")], ids=["narrow", "medium", "wide"]
)
def test_light(
    mixed: Dump, snap_compare: Compare, size: tuple[int, int], digit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("INSPECT_COMPILE_THEME", "light")
    assert snap_compare(InspectApp(mixed), terminal_size=size, run_before=with_softmax_chosen(digit))


def test_filtered_and_sorted(mixed: Dump, snap_compare: Compare) -> None:
    keys = ("2", "f", *"mul", "enter", "o", "enter", "enter")
    assert snap_compare(InspectApp(mixed), terminal_size=NARROW, run_before=after(*keys))


def test_go_to(mixed: Dump, snap_compare: Compare) -> None:
    assert snap_compare(InspectApp(mixed), terminal_size=NARROW, run_before=after("g", *"softmax"))


def test_without_colours(mixed: Dump, snap_compare: Compare, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert snap_compare(InspectApp(mixed), terminal_size=NARROW, run_before=with_softmax_chosen("6"))
