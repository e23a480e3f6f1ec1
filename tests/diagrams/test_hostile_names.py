"""Whatever a dump calls its things, each kind of picture draws it as text, and nothing else comes of it."""

import shutil
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

from inspect_compile.analysis.lookup.nodes import find_nodes
from inspect_compile.diagrams.dot import dot_text
from inspect_compile.diagrams.dynamo import dynamo_picture
from inspect_compile.diagrams.fx.picture import fx_picture
from inspect_compile.diagrams.kernel import kernel_picture
from inspect_compile.diagrams.node import node_picture
from inspect_compile.diagrams.picture import Picture
from inspect_compile.diagrams.render import svg
from inspect_compile.diagrams.schedule.findings import findings_picture
from inspect_compile.diagrams.schedule.joined import joined_picture
from inspect_compile.dump import Dump
from inspect_compile.facts import (
    CacheLookup,
    Frame,
    GraphBreak,
    Kernel,
    KernelBody,
    Location,
    Recompile,
    Tensor,
)
from inspect_compile.facts.frontend import FailedGuard
from inspect_compile.facts.kernels import StatementNodes
from inspect_compile.graph import CompiledGraph, Graphs
from inspect_compile.tables.lookup_text import resolved
from tests.diagrams.pictures import holds_together
from tests.diagrams.test_render import HOSTILE, JOINER, tags, texts
from tests.handmade import GRAPH, graph, kernel, line, lowered, made, node, operation

pytestmark = pytest.mark.skipif(shutil.which("dot") is None, reason="needs the program dot (Graphviz)")


def written(root: Path, name: str) -> Dump:
    """A dump in which everything that has a name is called so."""
    where = Location(f"/x/{name}", 7, name, name)
    tensor = Tensor(name, (name, 2))
    guard = FailedGuard(compile_id="0/0", condition=name, what=name, before=name, after=name, where=where)
    source = root / "torchinductor" / GRAPH / "k.cpp"
    dump = made(
        root,
        graph(),
        node(name or "n", name or "aten.relu", where=where, values=(tensor,), module=name, inputs=(f"x{name}",)),
        node(f"x{name}", name, op="placeholder", values=(tensor,)),
        node(f"y{name}", f"aten.{name}", inputs=(name or "n",), module=f"{name}.0"),
        lowered(name or "n", name, buffers=(f"b{name}",)),
        operation("op0", reads={f"in{name}": 4}, writes={f"b{name}": 4}, nodes=(name or "n",), members=("op0",)),
        operation("op0", reads={f"in{name}": 4}, writes={f"b{name}": 4}, nodes=(name or "n",), phase="pre_fusion"),
        operation(f"op1{name}", reads={f"b{name}": 4}, writes={f"c{name}": 4}, kind="extern", users=("OUTPUT",)),
        kernel(f"k{name}", "op0", launches=(3,), source="k.cpp", kind="cpp"),
        line(0, "launch", kernel=f"k{name}", line=3, arguments=(f"in{name}", f"b{name}")),
        KernelBody(
            graph=GRAPH,
            kernel=f"k{name}",
            operations=("op0",),
            nodes=(name or "n",),
            operators=("load", name, "store"),
            statements=(StatementNodes(3, 0, (0,)), StatementNodes(4, 1, (0,)), StatementNodes(5, 2, (0,))),
        ),
        Frame(graph="0/0", function=name, file=f"/x/{name}", line=3, status=name, reason=name, caller=where),
        Frame(graph="0/1", function=name, file=f"/x/{name}", line=3, status="compiled", caller=where),
        GraphBreak(graph="0/0", reason=name, explanation=name, hints=(name,), where=where),
        Recompile(graph="0/1", function=name, file=f"/x/{name}", line=3, reasons=(name,), failed=(guard,)),
        CacheLookup(graph="0/0", cache=name, outcome=name, reason=name),
    )
    source.write_bytes(
        f'extern "C" void kernel(const float* in_ptr0, float* out_ptr0)\n{{\nauto tmp0 = in_ptr0[0]; // {name}\n'
        f"auto tmp1 = tmp0 * 2; // {name}\nout_ptr0[0] = tmp1; // {name}\n}}\n".encode("utf-8", "surrogatepass")
    )
    return dump


def pictures(dump: Dump, name: str) -> list[Picture]:
    """A picture of each kind."""
    first = dump.rows(Kernel)[0]
    (meant,) = resolved(find_nodes(Graphs(dump, GRAPH), f"y{name}"))
    found = [
        fx_picture(CompiledGraph(dump, GRAPH), "post_grad", everything=True, unfold=True),
        fx_picture(CompiledGraph(dump, GRAPH), "post_grad", unfold=False),
        kernel_picture(dump, first),
        node_picture(dump, meant, f"y{name}"),
        dynamo_picture(dump),
        findings_picture(CompiledGraph(dump, GRAPH)),
        joined_picture(CompiledGraph(dump, GRAPH)),
    ]
    return [one for one in found if one is not None]


@pytest.mark.parametrize("name", HOSTILE, ids=range(len(HOSTILE)))
def test_names_stay_names_in_each_kind(tmp_path: Path, name: str) -> None:
    drawn = pictures(written(tmp_path, name), name)
    assert len(drawn) >= 5 or "\n" in name or "\r" in name
    for picture in drawn:
        holds_together(picture)
        root = ET.fromstring(svg(dot_text(picture)))
        assert tags(root) <= {"svg", "style", "rect", "g", "title", "path", "polygon", "polyline", "ellipse", "text"}
        assert len([one for one in root.iter() if one.attrib.get("class") == "graph"]) == len(picture.sections) + 1
        if name.isprintable() and 2 < len(name) < 20:
            shown = "".join(text.replace(JOINER, "") for text in texts(root))
            assert name.split()[0] in shown
