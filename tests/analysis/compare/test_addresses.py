"""Two runs of one program: what Python and Dynamo call by an address is the same thing under another name."""

from pathlib import Path

import pytest

from inspect_compile.analysis.compare.content import own
from inspect_compile.analysis.compare.differences import compare
from inspect_compile.analysis.compare.pairing import paired
from inspect_compile.facts import Frame, Guard, Recompile
from tests.handmade import graph, made, node

FRAME = Frame(graph="0/0", function="step", file="/here/train.py", line=3, status="compiled", graphs=1)


def guards(first: int, second: int, count: int) -> list[Guard]:
    """As torch 2.13 makes them for a transformer and for an optimizer; addresses and a count are a process's own."""
    named = f"G['_{first}_c{count}'].Tensor"
    return [
        Guard(
            graph="0/0",
            kind="CLASS_MATCH",
            source=named,
            code=(f"___check_obj_id({named}, {second}), type=<class 'torch.Tensor'>",),
        ),
        Guard(graph="0/0", kind="OBJECT_ALIASING", source=named, code=(f"{named} is G['__import_torch'].Tensor",)),
        Guard(
            graph="0/0",
            kind="WEAKREF_ALIVE",
            source=f"G['__optimizer_{first}_{second}_c{count}']()",
            code=(f"G['__optimizer_{first}_{second}_c{count}']() is not None",),
        ),
        Guard(
            graph="0/0",
            kind="ID_MATCH",
            source="L['self'].hook",
            code=(f"<bound method f of <M object at 0x{first:X}>>",),
        ),
    ]


def test_guards_that_differ_in_addresses_are_the_same(tmp_path: Path) -> None:
    sides = [
        made(
            tmp_path / name,
            FRAME,
            *guards(first, second, count),
            Recompile(
                graph="0/0",
                function="step",
                file="/here/train.py",
                line=3,
                reasons=(f"0/0: G['_{first}_c{count}']",),
            ),
            graph(),
            node("x"),
            node("add", "aten.add.Tensor", arguments=f"%x, _{first}_c{count}", index=1),
        )
        for name, first, second, count in (
            ("a", 140205775799376, 139799695867104, 0),
            ("b", 140667831186304, 94332214204528, 18),
        )
    ]

    assert compare(paired(*sides)) == []


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("L['x'].size()[0] == 123456", "L['x'].size()[0] == 123456"),
        ("3.141592653589793", "3.141592653589793"),
        ("model_2026112217", "model_2026112217"),
        ("a123456789012345", "a123456789012345"),
        ("_140205775799376_c5", "_#"),
        ("at 0x7F00AB12CD>", "at #>"),
    ],
)
def test_what_is_an_address(text: str, meant: str) -> None:
    assert own(text) == meant
