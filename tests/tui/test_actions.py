"""Every key does what the list of actions says; an action without a test here fails."""

import os
import stat
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest
from rich.cells import cell_len
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input, OptionList, Static

from inspect_compile.dump import Dump
from inspect_compile.tui.app import InspectApp
from inspect_compile.tui.keys.actions import Action
from inspect_compile.tui.screens.columns import ColumnsScreen
from inspect_compile.tui.screens.go_to import GoToScreen
from inspect_compile.tui.screens.help import ALL, CLOSE, HelpScreen, help_lines
from inspect_compile.tui.screens.main import MainScreen
from inspect_compile.tui.screens.saving import SaveScreen
from inspect_compile.tui.views import VIEWS
from inspect_compile.tui.views.view import TabView
from inspect_compile.tui.widgets.lines import Lines
from tests.tui.driving import TESTS, go_to, lines, main_screen, marked, press, row, said, settled, shown, until

Check = Callable[[Pilot[None], str], Awaitable[None]]

FORWARD_COMMAND = "inspect-compile show mixed nodes --graph forward"
ACTIONS = [action for _, actions in ALL for action in actions if action.does]
CASES = [(action, key) for action in ACTIONS for key in action.keys.split(",") if key]


def toasts(pilot: Pilot[None]) -> list[str]:
    """What was said in a corner."""
    return [notification.message for notification in pilot.app._notifications]


def cursor(pilot: Pilot[None], name: str = "fx-rows") -> int:
    return lines(pilot, name).cursor


async def at_the_nodes(pilot: Pilot[None], text: str = "mul_2 ") -> None:
    """The view of the FX graph, with a node selected."""
    await press(pilot, "2")
    go_to(pilot, "fx-rows", text)
    await settled(pilot)


async def shows_a_view(pilot: Pilot[None], key: str) -> None:
    name = next(view.name for view in VIEWS if view.key == key)
    await press(pilot, key)
    part = main_screen(pilot).query_one(f"#{name}", TabView)
    assert shown(pilot) == [name]
    assert part.rows.has_focus


async def goes_anywhere(pilot: Pilot[None], key: str) -> None:
    for asked, view, found in (
        ("erf", "fx", "erf "),
        ("cpp_fused_gelu_view_2", "kernels", "cpp_fused_gelu_view_2"),
        ("mixed.py:20", "source", "rows, columns ="),
        ("op9", "fusion", "op9"),
    ):
        await press(pilot, key)
        assert isinstance(pilot.app.screen, GoToScreen)
        await press(pilot, *asked.replace(".", "\0").replace("\0", "."), "enter")
        assert shown(pilot) == [view], asked
        assert found in row(pilot, f"{view}-rows"), asked


async def steps_back(pilot: Pilot[None], key: str) -> None:
    await at_the_nodes(pilot)
    await press(pilot, "6")
    go_to(pilot, "kernels-rows", "cpp_fused__softmax")
    await press(pilot, key)
    assert shown(pilot) == ["fx"]
    assert said(pilot, "context").startswith(" mul_2 ")
    assert row(pilot, "fx-rows").startswith("mul_2 ")
    await press(pilot, key)
    assert toasts(pilot) == ["no earlier selection"]


async def steps_forward(pilot: Pilot[None], key: str) -> None:
    await at_the_nodes(pilot)
    await press(pilot, "r", "down")
    assert "backward" in said(pilot, "top")
    go_to(pilot, "fx-rows", "mul_9 ")
    await press(pilot, "left_square_bracket")
    assert "forward" in said(pilot, "top")
    assert row(pilot, "fx-rows").startswith("mul_2 ")
    await press(pilot, key)
    assert "backward" in said(pilot, "top")
    assert row(pilot, "fx-rows").startswith("mul_9 ")


async def focuses_the_tree(pilot: Pilot[None], key: str) -> None:
    await press(pilot, key)
    assert lines(pilot, "tree").has_focus


async def hides_the_tree(pilot: Pilot[None], key: str) -> None:
    await press(pilot, key)
    assert not lines(pilot, "tree").display
    await press(pilot, key)
    assert lines(pilot, "tree").display


async def widens(pilot: Pilot[None], key: str) -> None:
    await press(pilot, "5", "tab")
    detail = lines(pilot, "fusion-detail")
    assert detail.has_focus
    await press(pilot, key)
    assert detail.size.width > 70
    assert not lines(pilot, "fusion-rows").display
    assert not lines(pilot, "tree").display
    await press(pilot, key)
    assert lines(pilot, "fusion-rows").display
    assert lines(pilot, "tree").display
    assert detail.size.width < 70


async def says_that_there_is_one_compile(pilot: Pilot[None], key: str) -> None:
    await press(pilot, key)
    assert toasts(pilot) == ["This dump has one compile; to compare two dumps: inspect-compile open OLD NEW"]


async def unfolds(pilot: Pilot[None], key: str) -> None:
    await press(pilot, "6")
    go_to(pilot, "kernels-rows", "cpp_fused__softmax")
    await settled(pilot)
    folded = len(lines(pilot, "kernels-detail").sheet)
    await press(pilot, key)
    assert len(lines(pilot, "kernels-detail").sheet) > folded


async def leads_to_the_breaks(pilot: Pilot[None], key: str) -> None:
    await press(pilot, key)
    assert shown(pilot) == ["overview"], "mixed.py has neither a graph break nor a recompile"


async def shows_all_about_the_run(pilot: Pilot[None], key: str) -> None:
    before = cursor(pilot, "overview-rows")
    await press(pilot, key)
    assert cursor(pilot, "overview-rows") > before


async def goes_to_the_next_list(pilot: Pilot[None], key: str) -> None:
    await press(pilot, "5", key)
    assert lines(pilot, "fusion-detail").has_focus


async def goes_to_the_previous_list(pilot: Pilot[None], key: str) -> None:
    await press(pilot, "5", "tab", key)
    assert lines(pilot, "fusion-rows").has_focus


def moves(start: str, by: Callable[[Lines], int]) -> Check:
    async def check(pilot: Pilot[None], key: str) -> None:
        await at_the_nodes(pilot, start)
        nodes = lines(pilot, "fx-rows")
        before = nodes.cursor
        await press(pilot, key)
        assert nodes.cursor == max(0, min(len(nodes.sheet) - 1, before + by(nodes)))
        assert nodes.cursor != before

    return check


async def scrolls_sideways(pilot: Pilot[None], key: str) -> None:
    await press(pilot, "9", "right")
    assert lines(pilot, "output-rows").scroll_x == 8
    if key in ("left", "h"):
        await press(pilot, key)
        assert lines(pilot, "output-rows").scroll_x == 0


async def scrolls_right(pilot: Pilot[None], key: str) -> None:
    await press(pilot, "9", key)
    assert lines(pilot, "output-rows").scroll_x == 8


async def follows(pilot: Pilot[None], key: str) -> None:
    await at_the_nodes(pilot)
    await press(pilot, key)
    assert shown(pilot) == ["ir"]
    assert row(pilot, "ir-rows").startswith("mul_2 ")


async def at_the_definition(pilot: Pilot[None]) -> None:
    """The generated code of a kernel that is selected."""
    await press(pilot, "6")
    go_to(pilot, "kernels-rows", "cpp_fused_gelu")
    await press(pilot, "9")
    assert row(pilot, "output-rows").startswith("cpp_fused_gelu_view_2 = async_compile")


async def goes_to_the_next_mark(pilot: Pilot[None], key: str) -> None:
    await at_the_definition(pilot)
    await press(pilot, key)
    assert row(pilot, "output-rows").strip().startswith("cpp_fused_gelu_view_2(")


async def goes_to_the_previous_mark(pilot: Pilot[None], key: str) -> None:
    await at_the_definition(pilot)
    await press(pilot, "m", key)
    assert row(pilot, "output-rows") == "''')", "the end of the definition, coming from below"


async def searches(pilot: Pilot[None], key: str) -> None:
    await press(pilot, "2", key, *"sum", "enter")
    assert row(pilot, "fx-rows").startswith("sum_1")


async def finds_the_next(pilot: Pilot[None], key: str) -> None:
    await press(pilot, "2", "slash", *"sum", "enter", key)
    assert row(pilot, "fx-rows").startswith("sum_2")


async def finds_the_previous(pilot: Pilot[None], key: str) -> None:
    await press(pilot, "2", "slash", *"sum", "enter", "n", key)
    assert row(pilot, "fx-rows").startswith("sum_1")


async def filters(pilot: Pilot[None], key: str) -> None:
    await press(pilot, "2", key, *"mul")
    nodes = lines(pilot, "fx-rows")
    assert {nodes.sheet.key(index).partition("_")[0] for index in range(len(nodes.sheet))} == {"mul"}
    assert f"filter mul  {len(nodes.sheet)} of {len(nodes.whole)} rows  esc shows all" in nodes.render_line(0).text
    await press(pilot, "enter", "end")
    assert said(pilot, "context").startswith(" mul_5 ")
    await press(pilot, "escape")
    assert len(nodes.sheet) == len(nodes.whole)
    assert row(pilot, "fx-rows").startswith("mul_5 "), "the cursor stays on its row"
    await press(pilot, key, *"nowhere")
    assert "no row matches" in nodes.render_line(2).text
    await press(pilot, "escape")
    assert len(nodes.sheet) == len(nodes.whole), "a filter that is given up changes nothing"


async def chooses_columns(pilot: Pilot[None], key: str) -> None:
    await press(pilot, "2", key)
    assert isinstance(pilot.app.screen, ColumnsScreen)
    await press(pilot, "enter")
    nodes = lines(pilot, "fx-rows")
    names = [nodes.sheet.plain(index).split()[0] for index in range(len(nodes.sheet))]
    assert names.index("mul_2") == names.index("mul_1") + 1
    assert "node ▲" in nodes.render_line(0).text
    await press(pilot, "enter")
    assert "node ▼" in nodes.render_line(0).text
    await press(pilot, "down", "down", "space")
    assert "target" not in nodes.render_line(0).text
    said_of_target = str(pilot.app.screen.query_one(OptionList).get_option_at_index(2).prompt)
    assert said_of_target.split() == ["target", "hidden"]
    await press(pilot, "space", "escape")
    assert "target" in nodes.render_line(0).text


async def turns_the_order(pilot: Pilot[None], key: str) -> None:
    await press(pilot, "2", key)
    assert toasts(pilot) == ["no column is sorted: press o to choose one"]
    await press(pilot, "o", "enter", "escape")
    nodes = lines(pilot, "fx-rows")
    first = nodes.sheet.key(0)
    await press(pilot, key)
    assert "node ▼" in nodes.render_line(0).text
    assert nodes.sheet.key(len(nodes.sheet) - 1) == first


async def forgets(pilot: Pilot[None], key: str) -> None:
    await at_the_nodes(pilot)
    assert marked(pilot, "fx")
    await press(pilot, key)
    assert not marked(pilot, "fx")


async def shows_the_next_mode(pilot: Pilot[None], key: str) -> None:
    await press(pilot, "2", key)
    assert "aot" in said(pilot, "fx-title")
    assert row(pilot, "fx-rows")


async def shows_the_lowering(pilot: Pilot[None], key: str) -> None:
    await at_the_nodes(pilot)
    await press(pilot, key)
    assert lines(pilot, "ir-detail").sheet.plain(0).startswith("mul_2  ")


async def asks_for_another_configuration(pilot: Pilot[None], key: str) -> None:
    """There is none in this dump; tests/tui/kernels has kernels with two."""
    await press(pilot, "6", key)
    assert shown(pilot) == ["kernels"]


async def opens_the_editor(pilot: Pilot[None], key: str) -> None:
    script = Path("editor.sh")
    script.write_text('#!/bin/sh\necho "$@" >edited\n')
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    await press(pilot, "1")
    go_to(pilot, "source-rows", "rows, columns =")
    os.environ.pop("EDITOR", None)
    os.environ.pop("VISUAL", None)
    await press(pilot, key)
    assert toasts(pilot)[-1].startswith("no editor is set: export EDITOR=vim")
    os.environ["EDITOR"] = str(script.absolute())
    await press(pilot, key)
    # The test's terminal cannot be given up, which the app takes for a browser; test_real_terminal.py has a real one.
    assert toasts(pilot)[-1] == "the editor needs a terminal, and this is a browser"


async def copies_the_command(pilot: Pilot[None], key: str) -> None:
    await press(pilot, "2", key)
    assert pilot.app.clipboard == FORWARD_COMMAND
    assert toasts(pilot) == [FORWARD_COMMAND]


async def copies_what_is_selected(pilot: Pilot[None], key: str) -> None:
    await at_the_nodes(pilot)
    await press(pilot, key)
    assert pilot.app.clipboard == "mul_2"
    assert toasts(pilot) == ["mul_2"]
    await press(pilot, "escape", "9", "home", key)
    assert pilot.app.clipboard == row(pilot, "output-rows").strip()


async def saves(pilot: Pilot[None], key: str) -> None:
    await press(pilot, "2", key)
    assert isinstance(pilot.app.screen, SaveScreen)
    await press(pilot, "enter")
    written = Path("fx.txt").read_text()
    assert written.splitlines()[0].split()[:3] == ["node", "▪", "target"]
    assert len(written.splitlines()) == 1 + len(lines(pilot, "fx-rows").sheet)
    assert str(Path("fx.txt").absolute()) in toasts(pilot)
    await press(pilot, key)
    asked = pilot.app.screen.query_one(Input)
    assert asked.value == "fx-2.txt"
    asked.value = "fx.txt"
    await press(pilot, "enter")
    assert isinstance(pilot.app.screen, SaveScreen), "a file is never written over"
    assert Path("fx.txt").read_text() == written
    asked.value = "screen.svg"
    await press(pilot, "enter")
    assert "dynamo" in Path("screen.svg").read_text()


async def draws(pilot: Pilot[None], key: str) -> None:
    await at_the_nodes(pilot, "mul_3 ")
    await press(pilot, key)
    await until(pilot, lambda: any("around_mul_3" in toast for toast in toasts(pilot)))
    folder = Path("mixed/torchinductor/model__0_forward_1.0")
    assert list(folder.glob("*around_mul_3*.dot"))


async def helps(pilot: Pilot[None], key: str) -> None:
    await press(pilot, key)
    assert isinstance(pilot.app.screen, HelpScreen)
    await press(pilot, "escape")
    assert [type(screen) for screen in pilot.app.screen_stack] == [MainScreen]


async def opens_the_palette(pilot: Pilot[None], key: str) -> None:
    await press(pilot, key, *"generated code", "enter")
    await until(pilot, lambda: shown(pilot) == ["output"])


async def changes_the_theme(pilot: Pilot[None], key: str) -> None:
    assert pilot.app.theme == "dark"
    before = lines(pilot, "tree").render_line(0)
    await press(pilot, key)
    assert pilot.app.theme == "light"
    after = lines(pilot, "tree").render_line(0)
    assert after.text == before.text
    assert [segment.style for segment in after] != [segment.style for segment in before]


async def quits(pilot: Pilot[None], key: str) -> None:
    await settled(pilot)
    await pilot.press(key)
    await pilot.pause()
    assert not pilot.app.is_running or pilot.app._exit


CHECKS: dict[str, Check] = {
    **{f"view('{view.name}')": shows_a_view for view in VIEWS},
    "go_to": goes_anywhere,
    "step(-1)": steps_back,
    "step(1)": steps_forward,
    "focus_tree": focuses_the_tree,
    "tree": hides_the_tree,
    "beside": says_that_there_is_one_compile,
    "unfold": unfolds,
    "breaks": leads_to_the_breaks,
    "whole": shows_all_about_the_run,
    "widen": widens,
    "app.focus_next": goes_to_the_next_list,
    "app.focus_previous": goes_to_the_previous_list,
    "move(-1)": moves("mul_2 ", lambda nodes: -1),
    "move(1)": moves("mul_2 ", lambda nodes: 1),
    "page(-1)": moves("mul_5 ", lambda nodes: 1 - nodes._height),
    "page(1)": moves("mul_2 ", lambda nodes: nodes._height - 1),
    "to_end(0)": moves("mul_5 ", lambda nodes: -len(nodes.sheet)),
    "to_end(1)": moves("mul_2 ", lambda nodes: len(nodes.sheet)),
    "sideways(-8)": scrolls_sideways,
    "sideways(8)": scrolls_right,
    "enter": follows,
    "next_mark(1)": goes_to_the_next_mark,
    "next_mark(-1)": goes_to_the_previous_mark,
    "search": searches,
    "search_again(1)": finds_the_next,
    "search_again(-1)": finds_the_previous,
    "filter": filters,
    "columns": chooses_columns,
    "turn_order": turns_the_order,
    "forget": forgets,
    "mode": shows_the_next_mode,
    "lowering": shows_the_lowering,
    "configuration": asks_for_another_configuration,
    "edit": opens_the_editor,
    "copy": copies_the_command,
    "copy_selected": copies_what_is_selected,
    "save": saves,
    "draw": draws,
    "help": helps,
    "command_palette": opens_the_palette,
    "theme": changes_the_theme,
    "quit": quits,
}
"""What each action is seen to do when its key is pressed."""


@pytest.mark.parametrize(("action", "key"), CASES, ids=[f"{action.does} {key}" for action, key in CASES])
async def test_a_key_does_what_the_list_says(
    mixed: Dump, action: Action, key: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "environ", os.environ.copy())
    async with InspectApp(mixed).run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        assert shown(pilot) == ["overview"]
        if action.owner != "overview":
            await press(pilot, "2")
        await CHECKS[action.does](pilot, key)


def test_no_key_means_two_things() -> None:
    for owners in (
        ("app", "screen", "list"),
        ("app", "screen", "kernels"),
        ("app", "screen", "overview"),
        ("program",),
    ):
        keys = [key for action, key in CASES if action.owner in owners]
        assert len(keys) == len(set(keys)), owners


def test_the_help_has_every_key_aligned_and_says_how_it_is_closed() -> None:
    told = [line.plain for line in help_lines()]
    assert told[0] == CLOSE
    for _, actions in ALL:
        for action in actions:
            assert any(line[2:20].rstrip() == action.label and line[20:] == action.what for line in told), action
    assert max(map(cell_len, told)) <= 71, "no line wraps at 80 columns"


def test_the_docs_list_the_same_keys() -> None:
    rows = [f"| `{action.label}` | {action.what} |" for _, actions in ALL for action in actions]
    told = (TESTS.parent / "docs" / "tui.md").read_text(encoding="utf-8").splitlines()
    assert [line for line in told if line.startswith("| `")] == rows


async def test_the_palette_has_every_action_and_runs_it(mixed: Dump) -> None:
    async with InspectApp(mixed).run_test(size=(80, 24)) as pilot:
        await press(pilot, "2", "colon", *"columns", "enter")
        await until(pilot, lambda: isinstance(pilot.app.screen, ColumnsScreen))
        await press(pilot, "escape", "colon", *"widen", "enter")
        await until(pilot, lambda: not lines(pilot, "tree").display)
        assert lines(pilot, "fx-rows").has_focus


async def test_a_view_whose_key_comes_before_the_tree_is_read_is_shown_then(mixed: Dump) -> None:
    for key, name in (("1", "source"), ("8", "memory")):
        async with InspectApp(mixed).run_test(size=(80, 24)) as pilot:
            screen = main_screen(pilot)
            assert screen._outline is None
            pilot.app.post_message(events.Key(key, key))
            await settled(pilot)
            assert shown(pilot) == [name]


async def test_go_to_tells_what_there_is_in_the_place_of_an_unknown_kernel(mixed: Dump) -> None:
    for asked, near in (("cpp_fused_gelu_mew_2", "near: cpp_fused_gelu_view_2"), ("%", "the kernels are cpp_")):
        async with InspectApp(mixed).run_test(size=(120, 40)) as pilot:
            await press(pilot, "g", *asked)
            told = str(pilot.app.screen.query_one("#go-to-said", Static).content)
            assert told.startswith(f"{asked}: no kernel, node, operation, buffer, graph or line has this name")
            assert near in told
