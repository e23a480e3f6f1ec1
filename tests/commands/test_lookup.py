"""Names that several graphs have are answered for each of them, and any word for a thing will do."""

import json
from pathlib import Path

import pytest

from inspect_compile.commands import main
from tests.handmade import GRAPH, made
from tests.two_graphs import FACTS, HASH, KERNEL, OTHER

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def dump(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "120")
    made(tmp_path / "net", *FACTS)


def graphs_of(capsys: Capture, *words: str) -> list[str]:
    """The graphs of the rows of a command, each once, in order."""
    assert main([*words, "--json"]) == 0
    return list(dict.fromkeys(json.loads(line)["graph"] for line in capsys.readouterr().out.splitlines()))


@pytest.mark.parametrize(
    "words",
    [
        ("show", "net", "node", "relu"),
        ("show", "net", "node", KERNEL),
        ("show", "net", "kernel", "relu"),
        ("show", "net", "kernel", "buf1"),
        ("show", "net", "kernel", HASH),
        ("show", "net", "node", "relu", "--graph", "forward"),
        ("show", "net", "kernels", "--graph", "forward"),
        ("show", "net", "nodes", "--node", "relu", "--graph", "forward"),
        ("show", "net", "fusion", "--reason", "fused", "--graph", "forward"),
        ("why", "net", "op0"),
        ("why", "net", "op0", "op1", "--graph", "forward"),
        ("name", "net", KERNEL, "--graph", "forward"),
    ],
)
def test_each_graph_is_answered_for(words: tuple[str, ...], capsys: Capture) -> None:
    assert graphs_of(capsys, *words) == [GRAPH, OTHER]


@pytest.mark.parametrize(
    "words",
    [
        ("show", "net", "node", "net.py:20"),
        ("show", "net", "kernel", "net.py:20"),
        ("why", "net", "net.py:20"),
        ("show", "net", "fusion", "--line", "net.py:20", "--graph", "forward"),
    ],
)
def test_a_line_of_one_graph_is_answered_for_it(words: tuple[str, ...], capsys: Capture) -> None:
    assert graphs_of(capsys, *words) == [OTHER]


def test_as_text_they_stand_below_each_other(capsys: Capture) -> None:
    assert main(["show", "net", "kernels", "--graph", "forward"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in said if line.startswith("model__")] == [GRAPH, OTHER]


def test_what_is_drawn_is_of_the_graphs_that_have_it(capsys: Capture) -> None:
    assert main(["draw", "net", "--around", "net.py:20", "--phase", "after", "--format", "dot"]) == 0
    (path,) = capsys.readouterr().out.splitlines()
    assert Path(path).parent.name == OTHER


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (
            ("show", "net", "summary", "--graph", "forward"),
            "--graph forward: several match; choose one: ",
        ),
        (("replay", "net", "--graph", "forward"), f"--graph forward: several match; choose one: {GRAPH}, {OTHER}"),
        (("show", "net", "node", "rellu", "--graph", "forward"), "rellu: no node matches in"),
        (("why", "net", "op0", "op1", "--try"), "--try: op0 and op1 are in several graphs; choose one with --graph: "),
    ],
)
def test_where_one_alone_can_be_meant_they_are_listed(words: tuple[str, ...], told: str, capsys: Capture) -> None:
    assert main([*words]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"inspect-compile: {told}")
    assert said.err.count("\n") == 1
