"""A program that calls its graph once: its times are of the first call, and are told as such."""

import json
from pathlib import Path

import pytest

from inspect_compile.commands import main
from inspect_compile.dump import Dump
from inspect_compile.facts import Launched, Measuring
from tests.handmade import GRAPH, graph, kernel, line, made, node, operation


def measured(root: Path, *, again: bool) -> Dump:
    """Two kernels; the second one was called once, the first one as often, or `again`."""
    names = ("cpp_fused_relu_0", "cpp_fused_sin_1")
    return made(
        root,
        graph(),
        node("x"),
        node("relu", "aten.relu.default", index=1),
        node("sin", "aten.sin.default", index=2),
        operation("op0", reads={"x": 16}, writes={"buf0": 16}, nodes=("relu",)),
        operation("op1", reads={"x": 16}, writes={"buf1": 16}, nodes=("sin",)),
        *(
            kernel(name, f"op{index}", launches=(100 + index,), nodes=(of,))
            for index, (name, of) in enumerate(zip(names, ("relu", "sin"), strict=True))
        ),
        *(line(index, "kernel", kernel=name) for index, name in enumerate(names)),
        Launched(
            graph=GRAPH,
            kernel=names[0],
            line=100,
            device="cpu",
            calls=3 if again else 1,
            timed=2 if again else 0,
            first=9.0,
            least=0.5 if again else None,
            milliseconds=0.75 if again else None,
        ),
        Launched(graph=GRAPH, kernel=names[1], line=101, device="cpu", calls=1, first=4.0),
        Measuring(device="cpu", how="clock", overhead=0.0, timed=2),
    )


@pytest.mark.parametrize("again", [False, True])
def test_the_first_call_is_told_apart(again: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    measured(tmp_path, again=again)

    assert main(["show", str(tmp_path), "measured"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert main(["show", str(tmp_path), "measured", "--json"]) == 0
    rows = [json.loads(row) for row in capsys.readouterr().out.splitlines()]
    assert main(["show", str(tmp_path), "kernel", "cpp_fused_sin_1"]) == 0
    page = " ".join(capsys.readouterr().out.split())

    assert "cold: only the first call was timed, in which kernels are compiled and tuned" in told
    assert ("the first call left out" in told) == again
    assert ("cpu: by clock, in the first, cold call" in told) != again
    assert ("in 2 launches, 1 of them cold" if again else "in 2 launches, cold") in told
    assert told.count(" ms cold ") == (1 if again else 2)
    assert [(row["milliseconds"], row["is_cold"]) for row in rows] == [
        (0.75, False) if again else (9.0, True),
        (4.0, True),
    ]
    assert "(the first call, cold)" in page
