"""Kernels of every form: `statements.py [short|gpu]`."""

import sys

import torch
from torch._inductor import config
from torch.nn.attention.flex_attention import flex_attention

torch.manual_seed(0)
which = sys.argv[1] if len(sys.argv) > 1 else "cpu"


def run(function, *inputs, mode=None, dynamic=None, **settings):
    torch._dynamo.reset()
    with config.patch(settings), torch.no_grad():
        found = torch.compile(function, mode=mode, dynamic=dynamic)(*inputs)
    print(getattr(function, "__name__", "module"), [tuple(leaf.shape) for leaf in torch.utils._pytree.tree_leaves(found)])


def exponentials(x):
    y = x.exp()
    return y.sin() + y.sum(), y.amax(0)


def reductions(x, w):
    y = torch.nn.functional.layer_norm((x + w).relu(), (x.shape[-1],))
    return y.softmax(-1), y.argmax(0), (y > 0).sum(1)


def dynamic(x, y):
    return (x.relu() + y).softmax(-1), x.sum(0), (x * x.shape[0]).sin()


def conditional(x):
    return torch.cond(x.sum() > 0, lambda x: x.sin() * 2 + x.cos().sum(), lambda x: x.exp() + 1, (x,)) + 1


def distance(score, batch, head, q, k):
    return score + (q - k).abs() * 0.5


def attention(q, k, v):
    out = flex_attention(q, k, v, score_mod=distance)
    return out.relu() if which == "gpu" else out


def foreach(a, b, c, d):
    return torch._foreach_mul(torch._foreach_add([a, b], [c, d]), 2.5)


def apart(a, b, c):
    return a.relu() + 1, b.sin().sum(1), c.exp() * 3


def small_floats(a, b):
    return (a * b + 1).sum(1).to(torch.bfloat16) + a.t().contiguous().relu()[:, :1].squeeze()


def linear(a, b, c):
    return torch.relu(torch.nn.functional.linear(a, b, c)) * 2


def sums(a, w):
    return (a * w).sum(0), (a * w).sum(1), (a - 1).sum(0)


def scans(x):
    return torch.stack([x.cumsum(0), x.cumprod(1)]).amax(0) + x.flip(0).roll(3), torch.logcumsumexp(x, 0)


def random(x):
    return torch.nn.functional.dropout(x, 0.3) + torch.rand_like(x)


def cats(a, b, at):
    both = torch.cat([a.relu(), b.sin(), a * b], 1)[:, 3:50]
    return both.sum(1), torch.zeros_like(a).index_add(0, at, b).cos(), torch.nn.functional.pad(a, (1, 2)) * 3


def windows(x):
    return torch.nn.functional.max_pool2d(x, 3), torch.sort(x[0, 0], 1)[0], x.var(2), (x.long() + 1).sum()


r = torch.randn
run(exponentials, r(300, 500))
run(reductions, r(37, 65), r(65))
if which != "short":
    run(dynamic, r(13, 29), r(13, 29), dynamic=True)
    run(conditional, r(9, 9))
    run(attention, r(1, 2, 128, 16), r(1, 2, 128, 16), r(1, 2, 128, 16))
    run(foreach, r(10, 10), r(20), r(10, 10), r(20))
    run(apart, r(10, 10), r(200, 30), r(77), combo_kernels=True, benchmark_combo_kernel=False)
    run(small_floats, r(64, 64).bfloat16(), r(64, 64).bfloat16())
    run(reductions, r(37, 65), r(65), **{"cpp.enable_loop_tail_vec": False})
    run(linear, r(64, 64), r(64, 64), r(64), mode="max-autotune-no-cudagraphs")
    run(reductions, r(64, 1500), r(1500), **{"triton.multi_kernel": 1})
    run(sums, r(4096, 512), r(4096, 512), **{"triton.mix_order_reduction": True})
    run(scans, r(32, 48))
    run(random, r(50, 50))
    run(cats, r(37, 50), r(37, 50), torch.randint(0, 37, (37,)))
    run(windows, r(1, 1, 37, 50))
