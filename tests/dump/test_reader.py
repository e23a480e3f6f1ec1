"""A dump is read as far as it is whole, whoever wrote it."""

from pathlib import Path

import pytest

from inspect_compile.dump import Dump, Writer, open_dump
from inspect_compile.errors import CommandError
from inspect_compile.facts import Graph, Lowering, Node, Run, Tensor


def _dump(root: Path, rows: int = 3) -> Writer:
    writer = Writer(root)
    writer.run(Run(argv=("script.py",)))
    writer.add(Graph(graph="g.0", kind="inference"))
    for index in range(rows):
        writer.add(
            Lowering(graph="g.0", index=index, node=f"n{index}", op="call_function", target="aten.add", way="lowering")
        )
    writer.flush()
    return writer


def test_round_trip(tmp_path: Path) -> None:
    _dump(tmp_path)
    dump = open_dump(tmp_path)

    assert [row.node for row in dump.rows(Lowering, "g.0")] == ["n0", "n1", "n2"]
    assert dump.run.argv == ("script.py",)
    assert dump.damaged == 0


def test_equal_values_of_many_rows_are_one_object(tmp_path: Path) -> None:
    """10,000 nodes would else hold 10,000 times the same texts and shapes."""
    writer = _dump(tmp_path, rows=0)
    value = Tensor("float32", (4, "s0"), (1,), "cpu", 16)
    for index in range(2):
        named = f"n{index}"
        writer.add(
            Node(
                graph="g.0",
                stage="aot",
                index=index,
                name=named,
                op="call_function",
                target="aten.add",
                values=(value,),
            )
        )
    writer.flush()

    one, other = Dump(tmp_path).rows(Node, "g.0")

    assert (one.name, other.name) == ("n0", "n1")
    assert one.values == (value,)
    assert one.values is other.values
    assert one.target is other.target
    assert one.graph is other.graph


def test_a_torn_last_line_waits_until_it_is_whole(tmp_path: Path) -> None:
    _dump(tmp_path)
    table = tmp_path / "torchinductor" / "g.0" / "lowering.jsonl"
    whole = table.read_bytes()
    table.write_bytes(whole[:-20])
    dump = open_dump(tmp_path)
    assert [row.node for row in dump.rows(Lowering)] == ["n0", "n1"]

    table.write_bytes(whole)
    assert dump.refresh()
    assert [row.node for row in dump.rows(Lowering)] == ["n0", "n1", "n2"]
    assert not dump.refresh()


@pytest.mark.parametrize(
    "line",
    [
        b"not json",
        b'{"fact":"lowering","graph":3}',
        b"[" * 100_000,
        b'{"fact":"something new","graph":""}',
        b"\xff\xfe",
    ],
)
def test_a_bad_line_is_counted_and_passed_over(tmp_path: Path, line: bytes) -> None:
    _dump(tmp_path)
    table = tmp_path / "torchinductor" / "g.0" / "lowering.jsonl"
    table.write_bytes(line + b"\n" + table.read_bytes())
    dump = open_dump(tmp_path)

    assert len(dump.rows(Lowering)) == 3
    assert dump.damaged == 1


def test_no_link_leads_out_of_a_dump(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("secret")
    root = tmp_path / "dump"
    _dump(root)
    (root / "torchinductor" / "g.0" / "output_code.py").symlink_to(secret)
    (root / "dynamo.jsonl").symlink_to(secret)
    dump = open_dump(root)

    assert dump.text("g.0", "output_code.py") is None
    assert dump.text("g.0", "../../../secret.txt") is None
    assert dump.text("../../..", "secret.txt") is None


@pytest.mark.parametrize("name", ["..", ".", "a/b", "", "x" * 1000, "a\0b", "∂"])
def test_graph_names_stay_in_the_dump(tmp_path: Path, name: str) -> None:
    writer = Writer(tmp_path / "dump")
    writer.add(Lowering(graph=name, index=0, node="n", op="output", target="", way="output"))
    writer.flush()

    assert writer.trouble is None
    assert [path.name for path in tmp_path.iterdir()] == ["dump"]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: None, "no such dump"),
        (lambda path: path.write_text("x"), "not a dump but a file"),
        (lambda path: path.mkdir(), "holds no run.json"),
        (lambda path: (path.mkdir(), (path / "run.json").write_text("{")), "not a run.json"),
        (lambda path: (path.mkdir(), (path / "run.json").write_text('{"schema": 99}')), "newer inspect-compile"),
    ],
)
def test_what_is_no_dump_says_so(tmp_path: Path, make, said: str) -> None:  # type: ignore[no-untyped-def]
    make(tmp_path / "it")

    with pytest.raises(CommandError, match=said) as error:
        open_dump(tmp_path / "it")
    assert "\n" not in str(error.value)
    assert error.value.exit_code == 2


def test_a_disk_that_refuses_is_remembered_and_never_raised(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file where a folder should be")
    writer = Writer(tmp_path / "taken" / "dump")
    writer.add(Graph(graph="g.0", kind="inference"))
    writer.flush()
    writer.run(Run())

    assert writer.trouble is not None


def test_nothing_is_written_beyond_the_limit(tmp_path: Path) -> None:
    writer = Writer(tmp_path, bytes_limit=100)
    writer.text("a.txt", "x" * 80)
    writer.text("b.txt", "x" * 80)

    assert (tmp_path / "a.txt").exists()
    assert not (tmp_path / "b.txt").exists()
    assert (writer.is_full, writer.trouble) == (True, None)


def test_graphs_stand_with_those_they_are_nested_in(tmp_path: Path) -> None:
    writer = Writer(tmp_path)
    writer.run(Run())
    for name in ("a.0", "b.1", "a.0/true", "a.0/false"):
        writer.add(Graph(graph=name, kind="inference"))
    writer.flush()

    assert [graph.graph for graph in Dump(tmp_path).graphs()] == ["a.0", "a.0/true", "a.0/false", "b.1"]
