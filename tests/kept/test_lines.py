"""Names and lines of a kept compile become those of this run, or it is not used."""

from collections.abc import Sequence

import msgspec
import pytest

from inspect_compile.facts import Location, Node
from inspect_compile.kept.lines import Moved, UnplacedError
from inspect_compile.kept.names import Renamed
from tests.kept.entries import ENTRY, LINE, changed

NOW = Location("/net.py", 9, "forward", "y = x + 1")
CALLER = Location("/other.py", 30, "main", "model(x)", 5)


class Sites:
    """Numbers calls as a run does."""

    def __init__(self) -> None:
        self.known: dict[tuple[int, str, int], int] = {}

    def record(self, frames: Sequence[Location], above: int) -> int:
        for frame in frames:
            above = self.known.setdefault((above, frame.file, frame.line), len(self.known) + 10)
        return above


def row(where: Location | None, name: str = "add") -> bytes:
    graph = "model__0_inference_0.0"
    fact = Node(graph=graph, stage="aot", index=0, name=name, op="call_function", target="aten.add", where=where)
    return msgspec.json.encode(fact) + b"\n"


def test_a_line_that_moved() -> None:
    sites = Sites()
    moved = Moved(ENTRY, ENTRY.nodes, [(NOW,)], CALLER, sites.record)
    old = Location(LINE.file, LINE.line, LINE.function, LINE.code, 2)

    found = msgspec.json.decode(moved.rows(row(old)), type=Node)

    assert found.where == Location(NOW.file, NOW.line, NOW.function, NOW.code, 10)
    assert sites.known == {(5, "/net.py", 9): 10}
    assert not moved.is_same
    text = b"    # File: /net.py:7 in forward, code: y = x + 1\n"
    assert moved.text(text) == b"    # File: /net.py:9 in forward, code: y = x + 1\n"


def test_the_line_that_called_the_function() -> None:
    moved = Moved(ENTRY, ENTRY.nodes, [(NOW,)], CALLER, Sites().record)
    assert ENTRY.caller is not None

    assert msgspec.json.decode(moved.rows(row(ENTRY.caller)), type=Node).where == CALLER


def test_rows_without_lines_and_texts_that_look_like_lines_stay() -> None:
    moved = Moved(ENTRY, ENTRY.nodes, [(NOW,)], CALLER, Sites().record)
    tricky = row(None, name='{"file":"/net.py","line":7,"function":"forward"}')

    assert moved.rows(tricky) == tricky


def test_a_file_of_which_nothing_moved_keeps_its_other_lines() -> None:
    moved = Moved(ENTRY, ENTRY.nodes, [(NOW,)], CALLER, Sites().record)
    other = Location("/library.py", 70, "helper", "return x")

    assert msgspec.json.decode(moved.rows(row(other)), type=Node).where == other


@pytest.mark.parametrize(
    ("nodes", "stacks", "why"),
    [
        ((("x", -1), ("mul", 0)), [(NOW,)], "names its nodes differently"),
        ((("x", -1),), [(NOW,)], "names its nodes differently"),
        ((("x", -1), ("add", -1)), [], "in only one of the two graphs"),
        ((("x", -1), ("add", 0)), [(NOW, NOW)], "by other calls"),
    ],
)
def test_another_graph_is_not_used(nodes: tuple[tuple[str, int], ...], stacks: list[tuple[Location]], why: str) -> None:
    with pytest.raises(UnplacedError, match=why):
        Moved(ENTRY, nodes, stacks, CALLER, Sites().record)


def test_one_line_that_became_two_is_not_used() -> None:
    entry = changed(nodes=(("add", 0), ("mul", 0)))
    later = Location("/net.py", 10, "forward", "z = y * 2")

    with pytest.raises(UnplacedError, match="several lines"):
        Moved(entry, (("add", 0), ("mul", 1)), [(NOW,), (later,)], CALLER, Sites().record)


def test_a_line_of_a_changed_file_on_no_stack_is_not_guessed() -> None:
    moved = Moved(ENTRY, ENTRY.nodes, [(NOW,)], CALLER, Sites().record)

    with pytest.raises(UnplacedError, match="line 40"):
        moved.rows(row(Location("/net.py", 40, "forward", "?")))


def test_an_unknown_caller_is_not_guessed() -> None:
    moved = Moved(ENTRY, ENTRY.nodes, [(NOW,)], None, Sites().record)

    with pytest.raises(UnplacedError, match="called the compiled function"):
        moved.rows(row(ENTRY.caller))


def test_names() -> None:
    graphs = {"model__0_forward_1.0": "model__3_forward_1.4", "model__0_backward_3.1": "model__3_backward_3.5"}
    renamed = Renamed(graphs, ("0/0", "2/1"), ("model__0", "model__3"))
    rows = (
        b'{"fact":"node","graph":"model__0_forward_1.0/true_graph_0","name":"add"}\n'
        b'{"fact":"graph","graph":"model__0_forward_1.0","compile_id":"0/0","parent":null,"name":"model__0_forward_1"}\n'
        b'{"fact":"call","graph":"0/0","parent":3,"inductor_graph":"model__0_backward_3.1"}\n'
        b'{"fact":"joint_node","graph":"0/0/cond_0","aot_graph":"model__0_joint_0","target":"\\"graph\\":\\"0/0\\""}\n'
        b'{"fact":"node","graph":"model__0_forward_1.00","name":"model__01"}\n'
    )

    assert renamed.rows(rows) == (
        b'{"fact":"node","graph":"model__3_forward_1.4/true_graph_0","name":"add"}\n'
        b'{"fact":"graph","graph":"model__3_forward_1.4","compile_id":"2/1","parent":null,"name":"model__3_forward_1"}\n'
        b'{"fact":"call","graph":"2/1","parent":3,"inductor_graph":"model__3_backward_3.5"}\n'
        b'{"fact":"joint_node","graph":"2/1/cond_0","aot_graph":"model__3_joint_0","target":"\\"graph\\":\\"0/0\\""}\n'
        b'{"fact":"node","graph":"model__0_forward_1.00","name":"model__01"}\n'
    )
    assert renamed.path("torchinductor/model__0_backward_3.1/kernels/k/k.py") == (
        "torchinductor/model__3_backward_3.5/kernels/k/k.py"
    )
