"""One selection, marked at every level, by keys and by mouse."""

import os
import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace
from textual import events
from textual.pilot import Pilot
from textual.widgets import Static

from inspect_compile.commands import main
from inspect_compile.dump import Dump, Writer
from inspect_compile.facts import Graph, GraphEnd, Kernel, Location, Lowering, Node, Operation, Run
from inspect_compile.tui.app import InspectApp
from inspect_compile.tui.views.view import View
from inspect_compile.tui.widgets.bar import Bar
from inspect_compile.tui.widgets.lines import Lines
from tests.handmade import ended, graph, kernel, made
from tests.tui.driving import (
    RECORDED,
    go_to,
    lines,
    main_screen,
    marked,
    press,
    row,
    said,
    settled,
    shown,
    typed_at_once,
    until,
)

SOFTMAX = "        rows, columns = z.softmax(-1), z.softmax(-2)"
SOFTMAX_NODES = ["amax", "sub_1", "exp", "sum_1", "div", "amax_1", "sub_2", "exp_1", "sum_2", "div_1"]


async def test_a_line_marks_its_nodes_and_kernels(mixed: Dump) -> None:
    async with InspectApp(mixed).run_test(size=(200, 60)) as pilot:
        await press(pilot, "1")
        go_to(pilot, "source-rows", SOFTMAX)
        await settled(pilot)
        assert marked(pilot, "fx") == SOFTMAX_NODES
        assert row(pilot, "fx-rows").startswith("amax ")
        assert [key.split()[1] for key in marked(pilot, "kernels")] == [
            "cpp_fused__softmax_add_argmax_mul_transpose_view_3"
        ]
        assert said(pilot, "context").startswith(" mixed.py:20 · 10 nodes · 8 operations · 1 kernel")
        assert "// #include" not in row(pilot, "kernels-detail")
        assert lines(pilot, "kernels-detail").sheet.plain(0) == "cpp_fused__softmax_add_argmax_mul_transpose_view_3"


async def test_a_kernel_marks_lines_nodes_groups_and_generated_code(mixed: Dump) -> None:
    async with InspectApp(mixed).run_test(size=(80, 24)) as pilot:
        await press(pilot, "6")
        go_to(pilot, "kernels-rows", "cpp_fused_gelu_view_2")
        await press(pilot, "2")
        assert marked(pilot, "fx") == ["view_1", "mul_2", "mul_3", "erf", "add_2", "mul_4"]
        await press(pilot, "4")
        assert marked(pilot, "ir") == marked(pilot, "fx")
        assert row(pilot, "ir-rows").startswith("view_1")
        await press(pilot, "5")
        assert marked(pilot, "fusion") == ["group op9"]
        await press(pilot, "7")
        assert any(f"aten.{name} " in row(pilot, "cost-rows") for name in ("add", "erf", "mul"))
        await press(pilot, "1")
        assert marked(pilot, "source") == ["19"]
        await press(pilot, "9")
        output = lines(pilot, "output-rows")
        texts = [output.sheet.plain(index) for index in range(len(output.sheet)) if output.is_marked(index)]
        assert texts[0].startswith("cpp_fused_gelu_view_2 = async_compile")
        assert texts[-2] == "''')"
        assert texts[-1].strip().startswith("cpp_fused_gelu_view_2(")


async def test_a_node_marks_its_line_and_kernel(mixed: Dump) -> None:
    async with InspectApp(mixed).run_test(size=(200, 60)) as pilot:
        await press(pilot, "1")
        go_to(pilot, "fx-rows", "erf ")
        await settled(pilot)
        assert marked(pilot, "source") == ["19"]
        assert row(pilot, "kernels-rows").startswith("cpp_fused_gelu_view_2")
        assert said(pilot, "context").startswith(" erf · mixed.py:19 · 1 operation · 1 kernel")


@pytest.mark.parametrize(
    ("digit", "name", "text", "node"),
    [("1", "source", "gelu(self.up", "view"), ("2", "fx", "erf ", "erf"), ("3", "passes", "view_to_reshape", "view"),
     ("5", "fusion", "op9 ", "view_1"), ("6", "kernels", "cpp_fused_gelu", "view_1"),
     ("7", "cost", "aten.erf", "erf")],
)  # fmt: skip
async def test_i_goes_to_the_lowering_from_any_view(mixed: Dump, digit: str, name: str, text: str, node: str) -> None:
    async with InspectApp(mixed).run_test(size=(80, 24)) as pilot:
        await press(pilot, "2", digit)
        go_to(pilot, f"{name}-rows", text)
        await press(pilot, "i")
        assert shown(pilot) == ["ir"]
        assert row(pilot, "ir-rows").split()[0] == node
        assert lines(pilot, "ir-detail").sheet.plain(0).startswith(f"{node}  ")


async def test_a_node_of_another_graph_is_gone_to(mixed: Dump) -> None:
    async with InspectApp(mixed).run_test(size=(80, 24)) as pilot:
        await press(pilot, "2")
        go_to(pilot, "fx-rows", "erf ")
        await press(pilot, "i")
        for stage, title, name in (("joint", "joint", "erf"), ("Dynamo", "dynamo", "gelu")):
            go_to(pilot, "ir-detail", f"{stage:12}{name}")
            lines(pilot, "ir-detail").focus()
            await press(pilot, "enter")
            assert shown(pilot) == ["fx"]
            assert row(pilot, "fx-rows").startswith(f"{name} ")
            assert main_screen(pilot).query_one("#fx", View).mode == title
            await press(pilot, "i")
            assert shown(pilot) == ["ir"]
            go_to(pilot, "ir-rows", "erf ")
            await settled(pilot)


async def test_everything_about_a_node(mixed: Dump) -> None:
    async with InspectApp(mixed).run_test(size=(80, 24)) as pilot:
        await press(pilot, "4")
        go_to(pilot, "ir-rows", "erf ")
        await press(pilot, "s")
        assert row(pilot, "ir-rows").startswith("erf ")
        page = lines(pilot, "ir-detail").sheet
        text = "\n".join(page.plain(index) for index in range(len(page)))
        assert text.startswith("erf   aten.erf.default   post-grad node")
        assert "Kernels that compute it: 1 call" in text
        assert main_screen(pilot).command == "inspect-compile show mixed node erf --graph forward"


async def test_earlier_stages_of_fx_follow_the_selection(mixed: Dump) -> None:
    async with InspectApp(mixed).run_test(size=(200, 60)) as pilot:
        await press(pilot, "1")
        go_to(pilot, "source-rows", SOFTMAX)
        await press(pilot, "2", "s")
        assert "aot" in said(pilot, "fx-title")
        assert marked(pilot, "fx") == SOFTMAX_NODES
        await press(pilot, "s", "s")
        assert marked(pilot, "fx") == ["rows", "columns"]
        go_to(pilot, "fx-rows", "gelu")
        await settled(pilot)
        assert marked(pilot, "source") == ["19"]


async def test_enter_follows_to_the_kernel_and_to_its_code(mixed: Dump) -> None:
    async with InspectApp(mixed).run_test(size=(80, 24)) as pilot:
        await press(pilot, "1")
        go_to(pilot, "source-rows", SOFTMAX)
        await press(pilot, "enter")
        assert row(pilot, "kernels-rows").startswith("cpp_fused__softmax")
        await press(pilot, "enter")
        assert row(pilot, "output-rows").startswith("cpp_fused__softmax_add_argmax_mul_transpose_view_3 = async")


async def test_another_graph_keeps_the_line_and_forgets_the_kernel(mixed: Dump) -> None:
    async with InspectApp(mixed).run_test(size=(200, 60)) as pilot:
        await press(pilot, "1")
        go_to(pilot, "source-rows", SOFTMAX)
        await press(pilot, "r", "down")
        assert "backward" in said(pilot, "top")
        assert marked(pilot, "source") == ["20"]
        assert said(pilot, "context").startswith(" mixed.py:20 · ")
        go_to(pilot, "kernels-rows", "cpp_fused")
        await press(pilot, "r", "up")
        assert marked(pilot, "source") == []
        assert said(pilot, "context").startswith(" select a line")


async def test_escape_forgets_the_selection(mixed: Dump) -> None:
    async with InspectApp(mixed).run_test(size=(80, 24)) as pilot:
        await press(pilot, "1")
        go_to(pilot, "source-rows", SOFTMAX)
        await press(pilot, "escape")
        assert marked(pilot, "source") == []


async def test_marks_can_be_walked(mixed: Dump) -> None:
    async with InspectApp(mixed).run_test(size=(80, 24)) as pilot:
        await press(pilot, "1", "home")
        seen = []
        for _ in range(3):
            await press(pilot, "m")
            seen.append(row(pilot, "source-rows").strip())
        assert seen[0] == "y = torch.relu(self.conv(x))"
        go_to(pilot, "source-rows", "gelu(self.up")
        await press(pilot, "6")
        go_to(pilot, "kernels-rows", "cpp_fused_gelu")
        await press(pilot, "9")
        definition = row(pilot, "output-rows")
        await press(pilot, "m")
        launch = row(pilot, "output-rows")
        await press(pilot, "M")
        assert definition.startswith("cpp_fused_gelu_view_2 = async_compile")
        assert launch.strip().startswith("cpp_fused_gelu_view_2(")
        assert row(pilot, "output-rows") == "''')", "the end of the definition, coming from below"


async def test_a_search_is_shown_while_it_is_typed_and_chosen_at_the_end(mixed: Dump) -> None:
    async with InspectApp(mixed).run_test(size=(80, 24)) as pilot:
        await press(pilot, "2", "slash", *"sum")
        assert row(pilot, "fx-rows").startswith("sum_1")
        assert said(pilot, "context").startswith(" select a line")
        await press(pilot, "enter")
        assert said(pilot, "context").startswith(" sum_1 · mixed.py:20")
        await press(pilot, "n")
        assert row(pilot, "fx-rows").startswith("sum_2")
        await press(pilot, "N", "N")
        assert row(pilot, "fx-rows").startswith("sum_")
        await press(pilot, "slash", *"nowhere", "escape")
        assert row(pilot, "fx-rows").startswith("sum_")
        assert not main_screen(pilot).query_one("SearchBar").display


async def test_text_that_comes_together_with_its_key_is_not_lost(mixed: Dump) -> None:
    async with InspectApp(mixed).run_test(size=(80, 24)) as pilot:
        await press(pilot, "2")
        await typed_at_once(pilot, "/", *"sum", "enter", "n")
        assert not main_screen(pilot).query_one("SearchBar").display
        assert row(pilot, "fx-rows").startswith("sum_1")
        await typed_at_once(pilot, "f", *"erf", "enter")
        assert not main_screen(pilot).query_one("SearchBar").display
        assert len(lines(pilot, "fx-rows").sheet) == 1
        await press(pilot, "escape")
        await typed_at_once(pilot, "g", *"buf5", "enter")
        assert pilot.app.screen is main_screen(pilot)
        assert said(pilot, "context").startswith(" buf5")


async def test_a_pasted_line_is_entered(mixed: Dump) -> None:
    async with InspectApp(mixed).run_test(size=(80, 24)) as pilot:
        await press(pilot, "2", "slash")
        pilot.app.post_message(events.Paste("sum_2\n"))
        await settled(pilot)
        assert not main_screen(pilot).query_one("SearchBar").display
        assert said(pilot, "context").startswith(" sum_2")


async def test_the_mouse_chooses_rows_tabs_and_modes(mixed: Dump) -> None:
    async with InspectApp(mixed).run_test(size=(80, 24)) as pilot:
        await press(pilot, "1")
        source = lines(pilot, "source-rows")
        index = next(index for index in range(len(source.sheet)) if source.sheet.plain(index) == SOFTMAX)
        await pilot.click(source, offset=(20, index - round(source.scroll_y)))
        await press(pilot, "1")
        assert said(pilot, "context").startswith(" mixed.py:20")
        await pilot.click("#tabs", offset=(said(pilot, "tabs").index("6 Kern") + 2, 0))
        await settled(pilot)
        assert row(pilot, "kernels-rows").startswith("cpp_fused__softmax")
        await pilot.click("#tabs", offset=(said(pilot, "tabs").index("5 Fuse") + 2, 0))
        await settled(pilot)
        await pilot.click("#fusion-title", offset=(said(pilot, "fusion-title").index("missed") + 1, 0))
        await settled(pilot)
        assert (
            lines(pilot, "fusion-rows")
            .sheet.plain(0)
            .startswith("262 kB  layer_norm · mixed.py:18  mean · mixed.py:22")
        )


async def test_views_stand_side_by_side_where_there_is_room(mixed: Dump) -> None:
    async with InspectApp(mixed).run_test(size=(200, 60)) as pilot:
        await press(pilot, "1")
        assert shown(pilot) == ["source", "fx", "kernels"]
        await press(pilot, "9", "7")
        assert shown(pilot) == ["source", "cost", "output"]
        await pilot.resize_terminal(130, 40)
        await settled(pilot)
        assert shown(pilot) == ["cost", "output"]
        await pilot.resize_terminal(80, 24)
        await settled(pilot)
        assert shown(pilot) == ["cost"]


async def test_every_command_on_the_screen_finds_rows(mixed: Dump, capsys: pytest.CaptureFixture[str]) -> None:
    commands = set()
    async with InspectApp(mixed).run_test(size=(80, 24)) as pilot:
        await settled(pilot)
        for digit, name, text in (
            ("1", "source", SOFTMAX),
            ("2", "fx", "erf "),
            ("4", "ir", "erf "),
            ("5", "fusion", "op9 "),
            ("6", "kernels", "cpp_fused_gelu"),
            ("7", "cost", "aten.relu"),
            ("8", "memory", "buf0"),
            ("9", "output", "cpp_fused_gelu_view_2 ="),
        ):
            await press(pilot, digit)
            go_to(pilot, f"{name}-rows", text)
            await settled(pilot)
            commands.add(main_screen(pilot).command)
        await press(pilot, "r", "home")
        commands.add(main_screen(pilot).command)
        await press(pilot, "down")
        commands.add(main_screen(pilot).command)
    assert len(commands) == 10
    for command in commands:
        program, *words = command.split()
        assert program == "inspect-compile"
        assert main(words) == 0
        assert capsys.readouterr().out.count("\n") >= 1, command


async def test_y_copies_the_command(mixed: Dump) -> None:
    async with InspectApp(mixed).run_test(size=(80, 24)) as pilot:
        await press(pilot, "6", "y")
        assert pilot.app.clipboard == "inspect-compile show mixed kernels --graph forward"


async def test_a_growing_dump_fills_the_screen_and_keeps_the_place(here: Path) -> None:
    dump = here / "growing"
    writer = Writer(dump)
    recorded = Dump(RECORDED)
    writer.run(Run(status="running", argv=("mixed.py",), pid=os.getpid()))
    app = InspectApp(Dump(dump))
    async with app.run_test(size=(200, 60)) as pilot:
        await until(pilot, lambda: "Nothing has been compiled yet" in text_of(pilot, "overview-rows"))
        assert "live" in said(pilot, "top")
        for kind in (Graph, Node, Lowering):
            for fact in recorded.rows(kind):
                writer.add(fact)
        writer.flush()
        await until(pilot, lambda: any("forward" in one for one in tree_of(pilot)))
        await until(pilot, lambda: "model__0_forward_1.0" in text_of(pilot, "overview-rows"))
        await press(pilot, "2")
        assert "forward" in said(pilot, "top")
        assert len(lines(pilot, "fx-rows").sheet)
        assert len(lines(pilot, "kernels-rows").sheet) == 0
        go_to(pilot, "source-rows", SOFTMAX)
        await settled(pilot)
        nodes = lines(pilot, "fx-rows")
        before = (nodes.cursor, nodes.scroll_y)
        for name in ("schedule", "kernels"):
            source = RECORDED / "torchinductor" / "model__0_forward_1.0" / f"{name}.jsonl"
            shutil.copy(source, dump / "torchinductor" / "model__0_forward_1.0" / source.name)
        await until(pilot, lambda: "1 kernel" in said(pilot, "context"))
        await settled(pilot)
        assert said(pilot, "context").startswith(" mixed.py:20 · 10 nodes · 8 operations · 1 kernel")
        assert (nodes.cursor, nodes.scroll_y) == before
        assert [key.split()[1] for key in marked(pilot, "kernels")] == [
            "cpp_fused__softmax_add_argmax_mul_transpose_view_3"
        ]


async def test_a_failed_compile_says_so_above_what_was_recorded(here: Path) -> None:
    writer = Writer(here / "failed")
    writer.run(Run(status="raised", argv=("net.py",), exit_code=1, exception="InductorError: no [bold]compiler[/bold]"))
    writer.add(Graph(graph="g", kind="forward", compile_id="0/0"))
    writer.add(Node(graph="g", stage="post_grad", index=0, name="[red]x[/]", op="call_function", target="\x1b[31mred"))
    writer.add(GraphEnd(graph="g", status="failed", seconds=1.0, exception="InductorError: no [bold]compiler[/bold]"))
    writer.flush()
    async with InspectApp(Dump(here / "failed")).run_test(size=(120, 40)) as pilot:
        await press(pilot, "2")
        banner = main_screen(pilot).query_one("#failure")
        assert banner.display
        assert "InductorError: no [bold]compiler[/bold]" in str(banner.render())
        assert row(pilot, "fx-rows").startswith("[red]x[/]")
        drawn = "".join(lines(pilot, "fx-rows").render_line(y).text for y in range(5))
        assert "[red]x[/]" in drawn
        assert "\x1b" not in drawn


async def test_a_view_that_cannot_be_built_leaves_the_others_alone(here: Path) -> None:
    writer = Writer(here / "odd")
    writer.run(Run(status="finished", argv=("net.py",)))
    writer.add(Graph(graph="g", kind="forward", compile_id="0/0"))
    writer.add(Node(graph="g", stage="post_grad", index=0, name="x", op="call_function", target="aten.x"))
    writer.add(Kernel(graph="g", name="k", kind="cpp", launches=(-5,), defined_at=7, defined_to=3, nodes=("x",)))
    writer.add(Operation(graph="g", phase="pre_fusion", order=0, name="op", kind="?", node_type="?", nodes=("gone",)))
    writer.add(Lowering(graph="g", index=0, node="x", op="call_function", target="aten.x", way="?", same_as="gone"))
    writer.add(Node(graph="g", stage="aot", index=0, name="y", op="?", target="", where=Location("/dev/zero", -3)))
    writer.flush()
    async with InspectApp(Dump(here / "odd")).run_test(size=(80, 24)) as pilot:
        await press(pilot, "2", "3", "4", "5", "s", "s", "6", "7", "8", "s", "s", "9", "0", "1")
        assert "kernel" in said(pilot, "top")


async def test_the_tree_goes_from_rank_to_rank(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    made(Path("run"), run=Run(status="finished", argv=("python", "-m", "launcher", "net.py")))
    for rank, names in enumerate((("cpp_a",), ("cpp_a", "cpp_b"))):
        kernels = [kernel(name) for name in names]
        made(
            Path(f"run/rank_{rank}"),
            graph(),
            *kernels,
            ended(),
            run=Run(status="finished", argv=("net.py",), rank=rank),
        )
    async with InspectApp(Dump(Path("run"))).run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        assert tree_of(pilot) == ["launcher", "├ rank 0  1▪", "└ rank 1  2▪"]
        assert "Rank 1 compiled something different from rank 0" in text_of(pilot, "overview-rows")
        await press(pilot, "down", "down", "enter")
        await pilot.pause()
        expected = ["launcher", "├ rank 0  1▪", "└ rank 1", "  └ 0/0", "    └ forward  2▪"]
        await until(pilot, lambda: tree_of(pilot) == expected)
        assert "net.py ▸ rank 1" in pilot.app.screen.query_one("#top", Bar).text
        tree = pilot.app.screen.query_one("#tree", Lines)
        tree.focus()
        await pilot.press("home", "down", "enter")
        await until(pilot, lambda: tree_of(pilot)[1:3] == ["├ rank 0", "│ └ 0/0"])
        assert len(pilot.app.screen_stack) == 2


def text_of(pilot: Pilot[None], name: str) -> str:
    """The whole text of a list."""
    sheet = lines(pilot, name).sheet
    return "\n".join(sheet.plain(index) for index in range(len(sheet)))


def tree_of(pilot: Pilot[None]) -> list[str]:
    """The rows of the tree on the screen."""
    sheet = pilot.app.screen.query_one("#tree", Lines).sheet
    return [sheet.plain(index).rstrip() for index in range(len(sheet))]


async def test_a_dump_that_cannot_be_read_says_what_to_do(tmp_path: Path) -> None:
    made(tmp_path, graph())
    (tmp_path / "run.json").write_text("{", encoding="utf-8")
    async with InspectApp(Dump(tmp_path)).run_test(size=(120, 24)) as pilot:
        await until(pilot, lambda: main_screen(pilot).query_one("#failure", Static).display)
        words = str(main_screen(pilot).query_one("#failure", Static).render())
        assert "run.json" in words
        assert "`inspect-compile run SCRIPT` makes a new dump" in words


async def test_a_growing_dump_is_read_on_after_a_moment_when_it_could_not_be(here: Path) -> None:
    """A hostile one, or one on a file system that shows half of what is written."""
    dump = here / "growing"
    run = Run(status="running", argv=("mixed.py",), pid=os.getpid())
    shutil.copytree(RECORDED, dump)
    writer = Writer(dump)
    writer.run(run)
    async with InspectApp(Dump(dump)).run_test(size=(120, 24)) as pilot:
        banner = main_screen(pilot).query_one("#failure", Static)
        for keys in ("", "6"):
            await press(pilot, *keys)
            (dump / "run.json").write_text("{", encoding="utf-8")
            await until(pilot, lambda: banner.display)
            writer.run(run)
            await until(pilot, lambda: not banner.display)
        assert "live" in said(pilot, "top")
        writer.run(replace(run, status="finished"))
        await until(pilot, lambda: "live" not in said(pilot, "top"))
