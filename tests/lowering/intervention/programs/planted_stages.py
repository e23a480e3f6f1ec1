"""Compiles small programs, each as torch does and with mistakes above the kernels, one at a time: in Dynamo's graph, in
what a backend, a pass or a decomposition makes of it, and in lowerings.

Prints a line of JSON for each compile: the program, the mistake, the stage, the node and the line that it is about, the
graphs, and what the calls then leave behind that they do not without it.

    python planted_stages.py PROGRAM[:STAGE:EDIT] … [--stages STAGE …] [--edits EDIT …] [--count N]
"""

import argparse
import json
import random
import re
import sys
from collections.abc import Callable
from typing import Any, Final, NamedTuple

import torch
import torch._inductor.compile_fx
from stage_edits import EDITS
from stage_programs import PROGRAMS, WIDE, Left
from torch import Tensor
from torch._dynamo.output_graph import OutputGraph
from torch._inductor import config, decomposition, lowering
from torch._inductor.codecache import PyCodeCache
from torch._inductor.virtualized import V
from torch.fx import Graph, GraphModule, Node

aten = torch.ops.aten

DYNAMO, BACKEND, DECOMPOSITION, LOWERING = "dynamo", "backend", "decomposition", "lowering"
PASSES: Final = (
    *("pre_grad_custom_pass", "joint_custom_pre_pass", "joint_custom_post_pass"),
    *("post_grad_custom_pre_pass", "post_grad_custom_post_pass"),
)
STAGES: Final = (DYNAMO, BACKEND, PASSES[0], DECOMPOSITION, *PASSES[1:], LOWERING)
DECOMPOSED: Final = (
    *(aten.silu.default, aten.gelu.default, aten.tanh_backward.default, aten.lerp.Scalar, aten.lerp_.Scalar),
    *(aten.addcmul_.default, aten.silu_backward.default, aten.gelu_backward.default, aten._softmax.default),
    *(aten.index_copy_.default, aten.sigmoid_backward.default, aten.rsub.Scalar, aten.var.correction),
)
LOWERED: Final = {
    aten.sin.default: aten.cos.default,
    aten.cos.default: aten.sin.default,
    aten.exp.default: aten.sqrt.default,
    aten.tanh.default: aten.sigmoid.default,
    aten.relu.default: aten.neg.default,
    aten.sub.Tensor: aten.add.Tensor,
    aten.rsqrt.default: aten.exp.default,
    aten.sigmoid.default: aten.tanh.default,
}
"""Operator → the one whose lowering stands in for its own."""


class Fault(NamedTuple):
    stage: str
    edit: str
    turn: int
    """Which graph of the stage, or which call of the decomposition or the lowering."""
    at: int
    """Which place of the edit in the graph."""
    node: str
    line: int | None
    """The line of the program."""


class Planted:
    """Looks where mistakes can be made, and makes one."""

    def __init__(self) -> None:
        self.fault: Fault | None = None
        self.found: list[Fault] = []
        self.graphs: list[str] = []
        self._turns: dict[str, int] = {}
        self._watch_code()
        self._watch_dynamo()
        for target in DECOMPOSED:
            if target in decomposition.decompositions:
                decomposition.decompositions[target] = self._decomposition(target)
        for target in LOWERED:
            lowering.lowerings[target] = self._lowering(target, lowering.lowerings[target])

    def plant(self, fault: Fault | None) -> None:
        self.fault, self.found, self.graphs, self._turns = fault, [], [], {}

    def of_graph(self, stage: str, graph: Graph, *, is_nested: bool) -> None:
        """A graph goes through a stage."""
        turn = self._turn(stage)
        fault = self.fault
        if fault is not None:
            if (fault.stage, fault.turn) == (stage, turn):
                list(EDITS[fault.edit].places(graph))[fault.at][1]()
            return
        # Torch forbids results of nested graphs in the memory of others, or of an input: there is no right result then.
        edits = {name: edit for name, edit in EDITS.items() if not (is_nested and name.startswith("returned"))}
        for name, edit in edits.items():
            for at, (node, _) in enumerate(edit.places(graph)):
                self.found.append(Fault(stage, name, turn, at, node.name, line_of_node(node)))

    def backend(self, module: GraphModule, inputs: list[Any]) -> Any:
        self._of_modules(BACKEND, module)
        return torch._inductor.compile_fx.compile_fx(module, inputs)

    def hook(self, stage: str) -> Callable[[Graph], None]:
        return lambda graph: self.of_graph(stage, graph, is_nested=_is_nested())

    def _of_modules(self, stage: str, module: GraphModule) -> None:
        """A graph and those that are nested in it."""
        for one in module.modules():
            if isinstance(one, GraphModule):
                self.of_graph(stage, one.graph, is_nested=one is not module)
                one.recompile()

    def _turn(self, stage: str) -> int:
        self._turns[stage] = self._turns.get(stage, -1) + 1
        return self._turns[stage]

    def _is_here(self, stage: str, target: Any, meta: dict[str, Any], name: str) -> bool:
        """This call of what is made of an operator has the mistake."""
        turn, fault = self._turn(f"{stage} {target}"), self.fault
        if fault is None:
            self.found.append(Fault(stage, str(target), turn, 0, name, line_of(meta)))
            return False
        return (fault.stage, fault.edit, fault.turn) == (stage, str(target), turn)

    def _decomposition(self, target: Any) -> Callable[..., Any]:
        plain = decomposition.decompositions[target]

        def run(*args: Any, **kwargs: Any) -> Any:
            found = plain(*args, **kwargs)
            meta = torch.fx.traceback.get_current_meta()
            if found is NotImplemented or not self._is_here(DECOMPOSITION, target, meta, ""):
                return found
            return found * 1.05 if isinstance(found, Tensor) else found

        return run

    def _lowering(self, target: Any, plain: Callable[..., Any]) -> Callable[..., Any]:
        other = lowering.lowerings[LOWERED[target]]

        def run(*args: Any, **kwargs: Any) -> Any:
            node = V.graph.current_node
            if node.target is target and self._is_here(LOWERING, target, node.meta, node.name):
                return other(*args, **kwargs)
            return plain(*args, **kwargs)

        return run

    def _watch_code(self) -> None:
        plain = PyCodeCache.write

        def write(source: str, *more: Any, **named: Any) -> Any:
            if "def call(" in source and (found := re.search(r"AOT ID: \['(\w+)'\]", source)):
                self.graphs.append(found[1])
            return plain(source, *more, **named)

        PyCodeCache.write = write  # type: ignore[assignment, method-assign]

    def _watch_dynamo(self) -> None:
        plain = OutputGraph.call_user_compiler

        def edited(output: Any, module: GraphModule, *args: Any, **kwargs: Any) -> Any:
            self._of_modules(DYNAMO, module)
            return plain(output, module, *args, **kwargs)

        OutputGraph.call_user_compiler = edited  # type: ignore[assignment, method-assign]


def _is_nested() -> bool:
    """The passes that run are those over a graph that is nested in another one."""
    count, frame = 0, sys._getframe()
    while frame.f_back is not None:
        frame = frame.f_back
        count += bool(re.fullmatch(r"_recursive_\w+_passes", frame.f_code.co_name))
    return count > 1


def line_of(meta: dict[str, Any]) -> int | None:
    """The line of the programs that a node's operator was called in."""
    found = re.findall(r'stage_programs\.py", line (\d+)', str(meta.get("stack_trace", "")))
    return int(found[-1]) if found else None


def line_of_node(node: Node) -> int | None:
    """The same of a node; that of the value for what writes it back to an input, which is no operator of a program."""
    line = line_of(node.meta)
    is_back = line is None and node.target is aten.copy_.default and isinstance(node.args[1], Node)
    return line_of(node.args[1].meta) if is_back else line  # type: ignore[union-attr]


def left(program: str, planted: Planted) -> tuple[Left, set[tuple[int, int]]]:
    """What the calls of a program leave behind, and who of it shares memory."""
    torch.manual_seed(0)
    torch.compiler.reset()
    hooks = {stage: planted.hook(stage) for stage in PASSES}
    fault = planted.fault
    backend = planted.backend if fault is None or fault.stage == BACKEND else "inductor"
    with config.patch(hooks):
        found = PROGRAMS[program].run(lambda one: torch.compile(one, backend=backend))
    memories = [one.untyped_storage().data_ptr() for one in found]
    pairs = {(a, b) for b in range(len(found)) for a in range(b) if memories[a] == memories[b]}
    return [one.detach().clone() for one in found], pairs


def apart(found: Tensor, right: Tensor) -> float:
    """How far a tensor is from what is right: its largest difference, of half precision the root mean square one, as a
    multiple of what is counted as more than rounding.
    """
    if found.shape != right.shape or found.dtype != right.dtype:
        return float("inf")
    one, other = found.double(), right.double()
    if not torch.equal(one.isfinite(), other.isfinite()):
        return float("inf")
    difference = (one - other).nan_to_num(0.0, 0.0, 0.0).abs()
    size = other.nan_to_num(0.0, 0.0, 0.0).square().mean().sqrt().item()
    if right.dtype in (torch.bfloat16, torch.float16):
        return difference.square().mean().sqrt().item() / (2e-3 * size) if size else 0.0
    return difference.max().item() / (1e-4 * size) if size else float("inf") if difference.any() else 0.0


def chosen(found: list[Fault], program: str, named: list[str], asked: argparse.Namespace) -> list[Fault]:
    """The mistakes that are made: those that are `named`, or of each edit in each stage one after the other, the stages
    in turn.
    """
    if named:
        return [next(one for one in found if f"{one.stage}:{one.edit}" == each) for each in named]
    is_wide = PROGRAMS[program].kind == WIDE
    found = [one for one in found if one.stage in asked.stages]
    found = [one for one in found if one.edit in asked.edits or one.edit not in EDITS]
    found = [one for one in found if is_wide or one.edit not in EDITS or not EDITS[one.edit].only_wide]
    random.Random(program).shuffle(found)
    queues: dict[str, dict[str, list[Fault]]] = {}
    for one in found:
        queues.setdefault(one.stage, {}).setdefault(one.edit, []).append(one)
    ordered: list[Fault] = []
    uses: dict[str, int] = {}
    while any(any(of.values()) for of in queues.values()) and len(ordered) < asked.count:
        for stage in STAGES:
            of = {edit: places for edit, places in queues.get(stage, {}).items() if places}
            if of and len(ordered) < asked.count:
                edit = min(of, key=lambda edit: uses.get(edit, 0))
                uses[edit] = uses.get(edit, 0) + 1
                ordered.append(of[edit].pop(0))
    return ordered


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("programs", nargs="*", default=list(PROGRAMS))
    parser.add_argument("--stages", nargs="+", default=[one for one in STAGES if one != DYNAMO], choices=STAGES)
    parser.add_argument("--edits", nargs="+", default=list(EDITS))
    parser.add_argument("--count", type=int, default=8, help="how many mistakes in each program")
    asked = parser.parse_args()
    config.compile_threads = 1
    torch._dynamo.config.capture_scalar_outputs = True  # loops of `scan` and `map` need it
    planted = Planted()
    named: dict[str, list[str]] = {}
    for program, _, fault in (one.partition(":") for one in asked.programs):
        named.setdefault(program, []).extend([fault] if fault else [])
    for program in named:
        row: dict[str, Any] = {"program": program, "kind": PROGRAMS[program].kind}
        planted.plant(None)
        right, pairs = left(program, planted)
        print(json.dumps(row | {"edit": "none", "graphs": planted.graphs}), flush=True)
        for fault in chosen(planted.found, program, named[program], asked):
            planted.plant(fault)
            told = row | fault._asdict()
            try:
                found, shared = left(program, planted)
            except Exception as error:
                told["failed"] = f"{type(error).__name__}: {error}"[:300]
            else:
                told["apart"] = max(apart(one, other) for one, other in zip(found, right, strict=True))
                told["shared"] = sorted(shared - pairs)
            print(json.dumps(told | {"graphs": planted.graphs}), flush=True)


if __name__ == "__main__":
    main()
