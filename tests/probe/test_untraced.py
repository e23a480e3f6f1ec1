"""Dynamo is never offered a function of ours, also where it looks at all that runs: after a graph break."""

from pathlib import Path

from inspect_compile.dump import open_dump
from inspect_compile.facts import Frame
from tests.running import inspected, plain

PROGRAM = """
import torch
from functorch.compile import aot_function, make_boxed_func
from torch._dynamo import convert_frame, utils

offered, look = [], convert_frame.ConvertFrame.__call__

def looked(convert, frame, *args, **kwargs):
    offered.append(f"{frame.f_globals.get('__name__')}.{frame.f_code.co_name}")
    return look(convert, frame, *args, **kwargs)

convert_frame.ConvertFrame.__call__ = looked

@torch.compile(backend="eager")
def compiled(x):
    y = x + 1
    torch._dynamo.graph_break()
    return aot_function(lambda x: x.sin(), lambda graph, inputs: make_boxed_func(graph.forward))(y)

print(compiled(torch.ones(3, requires_grad=True)))
print(*offered, sep="\\n")
print({name: dict(utils.counters[name]) for name in ("frames", "stats")}, sum(utils.counters["graph_break"].values()))
"""


def test_dynamo_sees_what_it_would_see_alone(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text(PROGRAM)

    alone, watched = plain([script], tmp_path), inspected([script], tmp_path)

    assert "'unique_graphs': 3" in alone.stdout
    assert watched.stdout == alone.stdout
    assert not any("inspect_compile" in frame.file for frame in open_dump(tmp_path / "dump").rows(Frame))
