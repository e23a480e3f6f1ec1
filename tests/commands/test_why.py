"""`why`: the story of a pair, and of one scheduler node; what a name can mean."""

import json
import shutil
from pathlib import Path

import pytest

from inspect_compile.commands import main
from inspect_compile.dump import Dump
from inspect_compile.facts import Operation
from inspect_compile.graph import CompiledGraph
from tests.conftest import TESTS, DumpOf, Golden

RECORDED = TESTS / "data" / "tui" / "mixed"
Capture = pytest.CaptureFixture[str]


@pytest.fixture
def mixed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Dump:
    """A copy, called `mixed`, in the current directory, on a terminal of 110 columns."""
    shutil.copytree(RECORDED, tmp_path / "mixed")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "110")
    return Dump(Path("mixed"))


@pytest.mark.parametrize(
    "names",
    [("op7", "op21"), ("op14", "op15"), ("op4", "op5"), ("op2", "op3"), ("mixed.py:20", "mixed.py:21"), ("op11",)],
    ids=lambda names: "_".join(names).replace(":", "-"),
)
def test_stories(mixed: Dump, names: tuple[str, ...], capsys: Capture, golden: Golden) -> None:
    assert main(["why", "mixed", *names, "--graph", "forward"]) == 0

    golden.check(capsys.readouterr().out)


def test_every_pair_that_shares_a_buffer_has_a_story(dump_of: DumpOf, capsys: Capture) -> None:
    dump = Dump(dump_of("attention_block").dump)
    (graph,) = dump.outermost()
    rows = [row for row in dump.rows(Operation, graph.graph) if row.phase == "pre_fusion"]
    found = CompiledGraph(dump, graph.graph).ledger
    touched = {row.name: {access.buffer for access in (*row.reads, *row.writes)} for row in rows}
    told = 0
    for index, one in enumerate(rows):
        for other in rows[index + 1 :]:
            if touched[one.name] & touched[other.name]:
                assert main(["why", str(dump.root), one.name, other.name, "--json"]) == 0
                story = json.loads(capsys.readouterr().out)
                is_together = found.final[one.name] == found.final[other.name]
                assert (story["outcome"] == "together") == is_together
                assert story["decisive"] is not None
                assert is_together or story["reason"] is not None, story["decisive"]
                assert story["common"]["buffers"]
                told += 1
    assert told > len(rows)


def test_names_mean_the_same_operation(mixed: Dump, capsys: Capture) -> None:
    def operations(*names: str) -> tuple[str, str]:
        assert main(["why", "mixed", *names, "--graph", "forward", "--json"]) == 0
        story = json.loads(capsys.readouterr().out)
        return story["a"]["operation"], story["b"]["operation"]

    assert operations("op18", "op17") == ("op17", "op18")
    assert operations("buf18", "buf17") == ("op17", "op18")
    assert operations("cumsum", "%add_3") == ("op17", "op18")
    assert operations("mixed.py:21", "cumsum") == ("op17", "op18")
    assert operations("torch.ops.aten.cumsum.default", "op17") == ("op17", "op18")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("op7", "op99"), "op99: no operation matches in model__0_forward_1.0; near: op9, "),
        (("op7", "mixed.py:" + "9" * 5000), ": no operation matches in model__0_forward_1.0; "),
        (("op7", "mixed.py:1"), "mixed.py:1: no operation matches in model__0_forward_1.0; "),
        (("op7", "op8", "op9"), "why takes one or two names, not 3: op7 op8 op9"),
        (("op2", "op3", "--try"), "--try: no setting decides this pair; to try one anyway: --config"),
        (("op2", "--try"), "--try needs two names"),
        ((), "why mixed: name an operation: why DUMP A [B]; the operations are in show mixed schedule"),
    ],
)
def test_errors_say_what_there_is(mixed: Dump, words: tuple[str, ...], told: str, capsys: Capture) -> None:
    assert main(["why", "mixed", *words, "--graph", "forward"]) == 2

    (line,) = capsys.readouterr().err.splitlines()
    assert told in line


def test_a_name_in_several_graphs_is_answered_for_each(mixed: Dump, capsys: Capture) -> None:
    graphs = [graph.graph for graph in mixed.outermost()]

    assert main(["why", "mixed", "op1", "op2", "--json"]) == 0
    stories = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [story["graph"] for story in stories] == graphs

    assert main(["why", "mixed", "op1"]) == 0
    told = capsys.readouterr().out
    assert [line.split()[0] for line in told.splitlines() if line.startswith("model__0_")] == graphs


def test_what_is_tried_is_of_one_graph(mixed: Dump, capsys: Capture) -> None:
    assert main(["why", "mixed", "op1", "op2", "--try"]) == 2

    assert "in several graphs; choose one with --graph: model__0_forward_1.0, " in capsys.readouterr().err


@pytest.mark.harmless
def test_a_setting_that_brings_them_together(tmp_path: Path, capsys: Capture, dump_of: DumpOf) -> None:
    """A group that was cut off by its size: with a larger limit it is whole."""
    root = tmp_path / "dump"
    shutil.copytree(dump_of("attention_block").dump, root)
    (graph,) = Dump(root).outermost()
    group = next(
        row for row in Dump(root).rows(Operation, graph.graph) if row.phase == "post_fusion" and len(row.members) > 1
    )
    a, b = group.members[:2]
    assert main(["why", str(root), a, b, "--try", "--config", "max_fusion_size=1"]) == 1
    assert f"separates {a} and {b}" in capsys.readouterr().out

    assert main(["why", str(root), a, b, "--replay", "1", "--try"]) == 0
    assert f"fuses {a} and {b}" in capsys.readouterr().out
