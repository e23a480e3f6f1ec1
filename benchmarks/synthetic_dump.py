"""A dump of any size, for measuring: `python benchmarks/synthetic_dump.py DIR [NODES]`."""

import sys
from pathlib import Path
from typing import Any

from inspect_compile.dump import Writer, paths
from inspect_compile.facts import (
    Access,
    Frame,
    FusionLooks,
    FusionRound,
    Graph,
    GraphEnd,
    Kernel,
    Location,
    Lowering,
    Node,
    Operation,
    Realize,
    Run,
    Tensor,
)
from inspect_compile.facts.fusion import REFUSED, Look, Refusal

GRAPH = "model__0_inference_0.0"
NODES_PER_LINE = 8
NODES_PER_OPERATION = 4
OPERATIONS_PER_KERNEL = 2
PAIRS_PER_OPERATION = 4

IR = """\
TensorBox(StorageBox(
  ComputedBuffer(name='buf{0}', layout=FixedLayout('cpu', torch.float32, size=[64, 64], stride=[64, 1]), data=Pointwise(
    'cpu',
    torch.float32,
    def inner_fn(index):
        i0, i1 = index
        tmp0 = ops.load(buf{1}, i1 + 64 * i0)
        tmp1 = ops.exp(tmp0)
        return tmp1
    ,
    ranges=[64, 64],
    origin_node=exp_{0},
    origins=OrderedSet([exp_{0}])
  ))
))"""


def make(root: Path, nodes: int) -> None:
    """Write a dump of one graph with `nodes` nodes below `root`."""
    writer = Writer(root)
    writer.run(Run(status="finished", argv=("big.py",), cwd="/nowhere", exit_code=0, device="cpu"))
    writer.add(Frame(graph="0/0", function="forward", file="big.py", line=1, status="compiled", graphs=1))
    writer.add(Graph(graph=GRAPH, kind="inference", compile_id="0/0", name="model__0_inference_0", device="cpu"))
    value = Tensor("float32", (64, 64), (64, 1), "cpu", 16384)
    for index in range(nodes):
        where = Location("big.py", 10 + index // NODES_PER_LINE, "forward", "x = torch.exp(x) + x.sin() * 2")
        for stage in ("aot", "post_grad"):
            writer.add(
                Node(
                    graph=GRAPH,
                    stage=stage,
                    index=index,
                    name=f"exp_{index}",
                    op="call_function",
                    target="aten.exp.default",
                    inputs=(f"exp_{max(0, index - 1)}",),
                    users=(f"exp_{index + 1}",),
                    values=(value,),
                    where=where,
                    module=f"layers.{index // 200}.mlp",
                    module_type="MLP",
                    origins=(f"x_{index}",),
                )
            )
        is_real = index % NODES_PER_OPERATION == 0
        operation = index // NODES_PER_OPERATION
        writer.add(
            Lowering(
                graph=GRAPH,
                index=index,
                node=f"exp_{index}",
                op="call_function",
                target="aten.exp.default",
                way="lowering",
                via="make_pointwise.<locals>.inner torch/_inductor/lowering.py:719",
                arguments=(f"%exp_{max(0, index - 1)}",),
                result=IR.format(index, max(0, index - 1)),
                buffers=(f"buf{operation}",) if is_real else (),
                operations=(f"op{operation}",) if is_real else (),
                flops=4096,
                flops_kind="pointwise",
            )
        )
        if is_real:
            writer.add(
                Realize(
                    graph=GRAPH,
                    index=index,
                    node=f"exp_{index}",
                    buffer=f"buf{operation}",
                    realized=True,
                    reason="used several times, and dear enough to compute once",
                    caller="GraphLowering.run_node torch/_inductor/graph.py:1",
                    ir="Pointwise",
                )
            )
    _schedule(writer, nodes // NODES_PER_OPERATION)
    writer.add(GraphEnd(graph=GRAPH, status="compiled", seconds=1.0))
    writer.flush()


def _schedule(writer: Writer, operations: int) -> None:
    code = ["# generated"] * 20
    for index in range(operations):
        nodes = tuple(f"exp_{index * NODES_PER_OPERATION + offset}" for offset in range(NODES_PER_OPERATION))
        for phase in ("pre_fusion", "post_fusion"):
            writer.add(
                Operation(
                    graph=GRAPH,
                    phase=phase,
                    order=index,
                    name=f"op{index}",
                    kind="pointwise",
                    node_type="SchedulerNode",
                    members=(f"op{index}",),
                    buffers=(f"buf{index}",),
                    reads=(Access(f"buf{max(0, index - 1)}", "c0", ("c0=4096",), bytes=16384),),
                    writes=(Access(f"buf{index}", "c0", ("c0=4096",), bytes=16384),),
                    users=(f"op{index + 1}",),
                    nodes=nodes,
                )
            )
    _fusion(writer, operations)
    for index in range(operations // OPERATIONS_PER_KERNEL):
        held = tuple(f"op{index * OPERATIONS_PER_KERNEL + offset}" for offset in range(OPERATIONS_PER_KERNEL))
        first = index * OPERATIONS_PER_KERNEL * NODES_PER_OPERATION
        name = f"cpp_fused_exp_{index}"
        source = f'// {name}\nextern "C" void kernel(const float* in_ptr0, float* out_ptr0)\n{{\n}}\n'
        folder = f"{paths.KERNELS}/{name}/source.cpp"
        if index < 100:
            writer.text(f"{paths.graph_folder(GRAPH)}/{folder}", source)
        start = len(code) + 1
        code += [f"{name} = async_compile.cpp_pybinding(['const float*'], r'''", *source.splitlines(), "''')", ""]
        writer.add(
            Kernel(
                graph=GRAPH,
                name=name,
                kind="cpp",
                device="cpu",
                operations=held,
                groups=held,
                nodes=tuple(f"exp_{first + offset}" for offset in range(OPERATIONS_PER_KERNEL * NODES_PER_OPERATION)),
                lines=(Location("big.py", 10 + first // NODES_PER_LINE),),
                source=folder,
                defined_at=start,
                defined_to=start + 5,
                launches=(100_000 + index,),
            )
        )
    writer.text(f"{paths.graph_folder(GRAPH)}/{paths.OUTPUT_CODE}.py", "\n".join(code) + "\n")


def _fusion(writer: Writer, operations: int) -> None:
    texts = (*(f"op{index}" for index in range(operations)), "intermediate nodes between node1 & node2")
    known: dict[str, Any] = {"window": 64, "reorder": False, "aggressive": False}
    writer.add(FusionRound(graph=GRAPH, round=1, texts=texts, nodes=tuple(range(operations)), **known))
    refusals = (Refusal(operations),)
    for index in range(operations):
        others = range(index + 1, min(operations, index + 1 + PAIRS_PER_OPERATION))
        looks = tuple(Look(index, other, REFUSED, 16384, refusals) for other in others)
        writer.add(FusionLooks(graph=GRAPH, round=1, phase="generate", looks=looks))


if __name__ == "__main__":
    make(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 10_000)
