"""Compiles that fail, each at another stage; the program goes on."""

import torch
from torch._inductor import lowering
from torch._inductor.codegen import cpp
from torch._inductor.fx_passes import fuse_attention


def declared_twice(x):
    return f"{x}; auto tmp0 = 1"


def refused(x):
    raise RuntimeError("no lowering on Tuesdays")


def refused_pattern(query, key, value, inv_scale):
    raise RuntimeError("no attention on Tuesdays")


def broken(gm, inputs):
    raise RuntimeError("this backend is out of order")


cpp.CppVecOverrides.asinh = cpp.CppOverrides.asinh = staticmethod(declared_twice)
lowering.lowerings[torch.ops.aten.lgamma.default] = refused
fuse_attention._sfdp_replacement_1 = refused_pattern


def compiler_error(x, y):
    a = torch.relu(x) + y
    b = torch.asinh(a)
    return b * 2


def not_comparable():
    a = torch.ones(2, 2)
    return torch.softmax(torch.arccosh(torch.log2(torch.atan2(a, a))), -1)


def of_a_pass(x):
    return x + torch.tensor(5.0).cumsum(0)


def no_lowering(x):
    a = x + 1
    return torch.lgamma(a)


def in_a_branch(x):
    def yes(x):
        return torch.asinh(x).cos()

    return torch.cond(x.sum() > 0, yes, torch.sin, (x,))


def of_a_pattern(query, key, value):
    scores = query @ key.transpose(-2, -1) / 4.0
    return scores.softmax(-1) @ value


def of_a_guard(values, offsets):
    nested = torch.nested.nested_tensor_from_jagged(values, offsets)
    return torch.nn.functional.layer_norm(nested, [12]).values().sum()


def of_a_backend(x):
    return x * 3


def well(x):
    return x * 4


x = torch.rand(1000)
for function, arguments, backend in (
    (compiler_error, (x, x), "inductor"),
    (not_comparable, (), "inductor"),
    (of_a_pass, (x,), "inductor"),
    (no_lowering, (x,), "inductor"),
    (in_a_branch, (x,), "inductor"),
    (of_a_pattern, torch.rand(3, 1, 2, 8, 8).unbind(), "inductor"),
    (of_a_guard, (torch.randn(20, 12, requires_grad=True), torch.tensor([0, 6, 11, 14, 20])), "inductor"),
    (of_a_backend, (x,), broken),
    (well, (x,), "inductor"),
):
    try:
        torch.compile(function, backend=backend)(*arguments)
    except Exception as error:
        print(function.__name__, type(error).__name__)
