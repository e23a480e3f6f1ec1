"""Pages of the app that show rows of a table: the figures and words are those of `show`."""

from pathlib import Path

from inspect_compile.analysis.compare.replays import replays
from inspect_compile.dump import Dump
from inspect_compile.facts import Frame, Guard, Run
from inspect_compile.tables.styled_text import StyledLine
from inspect_compile.tui.models.run import pages
from tests.handmade import FILE, GRAPH, at, ended, graph, kernel, made, operation


def lines(page: list[StyledLine]) -> list[str]:
    return [line.plain.rstrip() for line in page]


def test_the_page_of_a_frame_lists_its_guards(tmp_path: Path) -> None:
    dump = made(
        tmp_path,
        Frame(graph="0/0", function="f", file=FILE, line=1, status="compiled"),
        Guard(graph="0/0", kind="CONSTANT_MATCH", source="L['n']", code=("L['n'] == 3",), where=at(2)),
        Guard(graph="0/0", kind="EQUALS_MATCH", source="L['n']", code=("L['n'] == 3",), where=at(2)),
        Guard(graph="0/1", kind="EQUALS_MATCH", source="L['other']", code=("L['other'] == 3",)),
    )

    found = lines(pages.frame_page(dump, "0/0"))

    assert "2 guards" in found
    head = found.index("2 guards") + 1
    assert [line.split() for line in found[head:]] == [
        ["of", "what", "must", "hold", "guard"],
        ["n", "==", "3", "CONSTANT_MATCH", "EQUALS_MATCH"],
    ]


def test_the_page_of_a_replay_compares_it_with_the_first_compile(tmp_path: Path) -> None:
    made(
        tmp_path,
        *(graph(), ended(GRAPH), kernel("k0"), kernel("k1")),
        *(operation(name, reads={}, writes={}, phase="post_fusion") for name in ("op0", "op1")),
    )
    run = Run(status="finished", replay_of=GRAPH, config={"max_fusion_size": "1"})
    again = (graph(), ended(GRAPH), kernel("k0"), operation("op0", reads={}, writes={}, phase="post_fusion"))
    made(tmp_path / "replay_1", *again, run=run)

    found = lines(pages.part_page(str(tmp_path / "replay_1")))

    ((first, ((row, _),)),) = ((one.first, one.again) for one in replays(Dump(tmp_path)))
    assert (first.kernels, first.groups, row.kernels, row.groups) == (2, 2, 1, 1)
    assert (row.first, first.first) == (first.counts, None)
    rows = [line.split() for line in found]
    assert ["compile", "kernels", "groups", "read", "written"] in rows
    assert any(words[:3] == ["recorded", "2", "2"] for words in rows)
    assert any(words[:6] == ["replay", "1", "1", "-1", "1", "-1"] for words in rows)
