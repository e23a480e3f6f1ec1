"""A dump with the recorded stages of one kernel, a relu, in two configurations for sm_90."""

import shutil
from pathlib import Path
from typing import Final

from inspect_compile.dump import Dump
from inspect_compile.facts import Binary, Fact, KernelBody, Location, Stage, StatementNodes
from tests.conftest import TESTS
from tests.handmade import FILE, GRAPH, ended, graph, kernel, made, node

RECORDED: Final = TESTS / "data" / "stages"
KERNEL: Final = "triton_poi_fused_relu_0"
LAUNCHER: Final = "triton_poi_fused_mul_1"
LABELS: Final = ("XBLOCK256-w4-s1", "XBLOCK128-w4-s1")
CUDA: Final = ("ttir", "ttgir", "llir", "ptx", "cubin")


def relu_body(operation: str, node: str) -> KernelBody:
    """What the first kernel computes in a call that runs `operation`."""
    return KernelBody(
        graph=GRAPH,
        kernel=KERNEL,
        operations=(operation,),
        nodes=(node,),
        loops=((0,),),
        operators=("load", "relu", "store"),
        statements=tuple(StatementNodes(line, place, (0,)) for line, place in ((23, 0), (24, 1), (25, 1), (26, 2))),
    )


def staged_dump(root: Path, *more: Fact) -> Dump:
    """The first kernel has all, of the second torch kept a launcher alone, the third is extern; and `more`."""
    found = made(
        root,
        graph(),
        ended(),
        node("relu", "aten.relu.default", where=Location(FILE, 7, "forward", "x.relu()")),
        kernel(KERNEL, kind="triton", nodes=("relu",), source=f"kernels/{KERNEL}/source.py", launches=(7,)),
        kernel(LAUNCHER, kind="triton", launches=(8,)),
        kernel("extern_kernels.mm", kind="extern", launches=(9,)),
        relu_body("op0", "relu"),
        *more,
        *(
            Binary(
                graph=GRAPH,
                kernel=KERNEL,
                label=label,
                config={"XBLOCK": int(label[6:9])},
                num_warps=4,
                target="sm_90",
                stages=tuple(Stage(name, f"kernels/{KERNEL}/{label}/{KERNEL}.{name}", 9) for name in CUDA),
                registers=16,
                spills=0,
                shared=0,
            )
            for label in LABELS
        ),
        Binary(graph=GRAPH, kernel=LAUNCHER, label="w4-s1", left_out="torch kept its launcher alone"),
    )
    shutil.copytree(RECORDED / "sm_90", found.folder(GRAPH) / "kernels" / KERNEL)
    shutil.copy(RECORDED / "source.txt", found.folder(GRAPH) / "kernels" / KERNEL / "source.py")
    return found
