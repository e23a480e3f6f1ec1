"""One function compiled again and again, each time with one thing in the key of torch's FX-graph cache changed."""

import contextlib
import time
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch._inductor import config
from torch._inductor.custom_graph_pass import CustomGraphPass

SIZES = (8, 12)
FACTOR = 2.0


class Pass(CustomGraphPass):
    """A pass that does nothing, with an identity."""

    def __init__(self, name: object) -> None:
        self.name = name

    def __call__(self, graph: torch.fx.Graph) -> None:
        pass

    def uuid(self) -> object:
        return self.name


@torch.library.custom_op("keyed::once", mutates_args=())
def once(x: torch.Tensor) -> torch.Tensor:
    return x.clone()


@torch.library.custom_op("keyed::twice", mutates_args=())
def twice(x: torch.Tensor) -> torch.Tensor:
    return x * 2


once.register_fake(torch.empty_like)
twice.register_fake(torch.empty_like)
OPERATOR: Callable[[torch.Tensor], torch.Tensor] = torch.sin


def scaled(x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    return (torch.relu(x) * FACTOR + OPERATOR(y)).softmax(-1)


def inputs(
    rows: int = SIZES[0], dtype: torch.dtype = torch.float32, *, turned: bool = False
) -> tuple[torch.Tensor, torch.Tensor]:
    """The two inputs of the function."""
    x = torch.ones(SIZES[1], rows, dtype=dtype).t() if turned else torch.ones(rows, SIZES[1], dtype=dtype)
    return x, torch.ones(rows, SIZES[1])


@contextlib.contextmanager
def restored(set_to: Callable[[Any], object], value: object, before: object) -> Iterator[None]:
    set_to(value)
    try:
        yield
    finally:
        set_to(before)


def one_thread() -> contextlib.AbstractContextManager[None]:
    return restored(torch.set_num_threads, 1, torch.get_num_threads())


def compiled(*given: torch.Tensor) -> None:
    torch._dynamo.reset()
    torch.compile(scaled)(*given)


def planted() -> Iterator[tuple[str, contextlib.AbstractContextManager[Any], tuple[torch.Tensor, ...]]]:
    """Name, what is changed, and the inputs."""
    same = contextlib.nullcontext()
    base = inputs()
    yield "setting", config.patch(epilogue_fusion=False), base
    yield "setting of C++", config.patch({"cpp.min_chunk_size": 1024}), base
    yield "setting of Triton", config.patch({"triton.unique_kernel_names": False}), base
    yield "unused setting", config.patch(max_autotune_gemm_backends="ATEN"), base
    yield "provenance", config.patch({"trace.provenance_tracking_level": 1}), base
    yield "threads", one_thread(), base
    yield "dtype by default", restored(torch.set_default_dtype, torch.float64, torch.float32), base
    yield "deterministic", restored(torch.use_deterministic_algorithms, True, False), base
    yield "tf32", restored(torch.set_float32_matmul_precision, "high", "highest"), base
    yield "tf32 off by name", same, base
    yield "tag", torch.compiler.config.patch(cache_key_tag="other"), base
    yield "pass", config.patch(post_grad_custom_post_pass=Pass("one")), base
    yield "another pass", config.patch(post_grad_custom_post_pass=Pass("other")), base
    yield "address", config.patch(joint_custom_post_pass=Pass(f"at {id(config):#x}")), base
    yield "another address", config.patch(joint_custom_post_pass=Pass(f"at {id(torch):#x}")), base
    yield "a set", config.patch(joint_custom_pre_pass=Pass(frozenset((0, 8)))), base
    yield "the same set", config.patch(joint_custom_pre_pass=Pass(frozenset((8, 0)))), base
    yield "a time", config.patch(post_grad_custom_pre_pass=Pass(time.time())), base
    yield "another time", config.patch(post_grad_custom_pre_pass=Pass(time.time() + 1)), base
    yield "flag of the compiler", config.patch({"cpp.enable_floating_point_contract_flag": "fast"}), base
    yield "lambda", config.patch(post_grad_custom_pre_pass=lambda graph: None), base
    yield "gradients", torch.no_grad(), (torch.ones(SIZES[0], SIZES[1], requires_grad=True), base[1])
    yield "size", same, inputs(9)
    yield "strides", same, inputs(turned=True)
    yield "dtype", same, inputs(dtype=torch.float64)
    yield "constant", same, base
    yield "operator", same, base
    yield "another operator", same, base


OPERATORS = {"operator": once, "another operator": twice}


def main() -> None:
    global FACTOR, OPERATOR
    compiled(*inputs())
    print("first")
    for name, change, given in planted():
        if name == "constant":
            FACTOR = 3.0
        if name in OPERATORS:
            OPERATOR = OPERATORS[name]
        with change:
            compiled(*given)
        print(name)


if __name__ == "__main__":
    main()
