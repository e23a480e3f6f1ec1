"""Programs in which a level before the kernels computes something else: `bad_level.py FAULT [train]`.

Prints whether the compiled result, or a gradient, is another than eager's.
"""

import sys
from collections.abc import Callable
from typing import Any

import torch
import torch._inductor.compile_fx
import torch.nn.functional as F
from torch import Tensor, nn
from torch._inductor import config

aten = torch.ops.aten
PARTITIONER = "min_cut_rematerialization_partition"


def wrong_decomposition() -> None:
    """silu as x * sigmoid(1.1 x)."""
    from torch._inductor.decomposition import decompositions

    decompositions[aten.silu.default] = lambda x: x * torch.sigmoid(1.1 * x)


def wrong_backward_decomposition() -> None:
    """The gradient of silu without its second term."""
    from torch._inductor.decomposition import decompositions

    decompositions[aten.silu_backward.default] = lambda grad, x: grad * torch.sigmoid(x)


def harmless_decomposition() -> None:
    """silu as x / (1 + exp(-x)), which rounds in another way."""
    from torch._inductor.decomposition import decompositions

    decompositions[aten.silu.default] = lambda x: x / (1 + torch.exp(-x))


def mended_decomposition() -> None:
    """silu with a sigmoid that is rounded to bfloat16; a pass over the joint graph takes the rounding away."""
    from torch._inductor.decomposition import decompositions

    convert = torch.ops.prims.convert_element_type.default
    decompositions[aten.silu.default] = lambda x: (
        x * convert(convert(torch.sigmoid(x), torch.bfloat16), torch.float32)
    )


def wrong_joint_pass() -> None:
    """Every tanh is left out."""

    def no_sigmoid(graph: torch.fx.Graph) -> None:
        for node in list(graph.find_nodes(op="call_function", target=aten.tanh.default)):
            node.replace_all_uses_with(node.args[0])
            graph.erase_node(node)

    config.joint_custom_post_pass = no_sigmoid


def wrong_partition() -> None:
    """Two saved values of one size change places."""
    plain = vars(torch._inductor.compile_fx)[PARTITIONER]

    def swapped(*args: Any, **kwargs: Any) -> Any:
        forward, backward = plain(*args, **kwargs)
        output = forward.graph.output_node()
        found = list(output.args[0])
        tensors: dict[Any, int] = {}
        for at, one in enumerate(found):
            if at and isinstance(one, torch.fx.Node) and one.op != "placeholder":
                kind = tuple(one.meta["val"].shape)
                if kind in tensors:
                    other = tensors[kind]
                    found[at], found[other] = found[other], found[at]
                    break
                tensors[kind] = at
        else:
            raise AssertionError("nothing to swap")
        output.args = (tuple(found),)
        forward.recompile()
        return forward, backward

    setattr(torch._inductor.compile_fx, PARTITIONER, swapped)


def wrong_pre_grad_pass() -> None:
    """A multiplication by 3 becomes one by 4.5."""

    def other(graph: torch.fx.Graph) -> None:
        for node in graph.nodes:
            if node.args[1:] == (3,):
                node.args = (node.args[0], 4.5)

    config.pre_grad_custom_pass = other


def wrong_backend(graph: torch.fx.GraphModule, inputs: list[Any]) -> Any:
    """A backend that edits Dynamo's graph before it calls Inductor."""
    for node in graph.graph.nodes:
        if node.args[1:] == (3,):
            node.args = (node.args[0], 4.5)
    graph.recompile()
    return torch._inductor.compile_fx.compile_fx(graph, inputs)


def wrong_capture() -> None:
    """Dynamo's graph is not what the function does."""
    from torch._dynamo.output_graph import OutputGraph

    plain = OutputGraph.call_user_compiler

    def edited(output: Any, module: torch.fx.GraphModule, *args: Any, **kwargs: Any) -> Any:
        for node in module.graph.nodes:
            if node.args[1:] == (3,):
                node.args = (node.args[0], 4.5)
        module.recompile()
        return plain(output, module, *args, **kwargs)

    OutputGraph.call_user_compiler = edited  # type: ignore[assignment, method-assign]


FAULTS: dict[str, Callable[[], None]] = {
    "nothing": lambda: None,
    "wrong_decomposition": wrong_decomposition,
    "wrong_backward_decomposition": wrong_backward_decomposition,
    "harmless_decomposition": harmless_decomposition,
    "mended_decomposition": mended_decomposition,
    "wrong_joint_pass": wrong_joint_pass,
    "wrong_partition": wrong_partition,
    "wrong_pre_grad_pass": wrong_pre_grad_pass,
    "wrong_backend": lambda: None,
    "wrong_capture": wrong_capture,
}


class Model(nn.Module):
    """Has all that the faults look for."""

    def __init__(self) -> None:
        super().__init__()
        self.up, self.norm, self.down = nn.Linear(16, 32), nn.BatchNorm1d(32), nn.Linear(32, 16)

    def forward(self, x: Tensor) -> Tensor:
        h = self.norm(torch.tanh(self.up(x)))
        h = F.silu(h)
        h = torch.exp(-(h * 3).square()).sin()
        return torch.softmax(self.down(h), -1)


def main() -> None:
    fault, is_training = sys.argv[1], "train" in sys.argv
    torch.manual_seed(0)
    FAULTS[fault]()
    model = Model().train(is_training)
    x = torch.randn(8, 16)
    compiled: Any = torch.compile(model, backend=wrong_backend if fault == "wrong_backend" else "inductor")
    found = []
    state = {name: one.clone() for name, one in model.state_dict().items()}
    for call in (compiled, model):
        model.load_state_dict(state)
        model.zero_grad()
        with torch.set_grad_enabled(is_training):
            result = call(x)
        if is_training:
            result.square().sum().backward()
        found.append([result.detach(), *(one.grad.clone() for one in model.parameters() if one.grad is not None)])
    print(any(float((one - other).abs().max()) > 1e-4 for one, other in zip(*found, strict=True)))


main()
