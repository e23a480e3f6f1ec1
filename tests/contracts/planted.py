"""Regressions as they creep into programs: what is changed, as a diff, and which metric tells it first.

Lines that begin with `-` are of the program before, with `+` of the one after; the change must be annotated at the
first `+`, at the line that begins with `!`, which both programs have, or with `>`, which only the one after has.
"""

from typing import Final, NamedTuple


class Planted(NamedTuple):
    """One regression."""

    name: str
    metric: str
    """The metric of the first difference that is told."""
    diff: str

    def program(self, sign: str) -> str:
        """The program before (`-`) or after (`+`)."""
        own = (" ", "!", "", sign, *((">",) if sign == "+" else ()))
        return "\n".join(line[1:] for line in _lines(self.diff) if line[:1] in own)

    @property
    def line(self) -> int:
        """The line of the program after that is expected in the annotation."""
        lines = [line for line in _lines(self.diff) if line[:1] != "-"]
        marked = [index for index, line in enumerate(lines, 1) if line[:1] in ("!", ">")]
        return marked[0] if marked else next(index for index, line in enumerate(lines, 1) if line[:1] == "+")


def _lines(diff: str) -> list[str]:
    return [" import torch", " from torch.nn import functional as F", *diff.strip("\n").splitlines()]


_CALL = """
 torch.manual_seed(0)
 x = torch.randn(256, 256)
 with torch.no_grad():
     torch.compile(f)(x)
"""
_TRAIN = """
 torch.manual_seed(0)
 x = torch.randn(256, 256, requires_grad=True)
 torch.compile(f)(x).sum().backward()
"""

PLANTED: Final[tuple[Planted, ...]] = (
    Planted("print", "graph_breaks", """
 def f(x):
     y = torch.relu(x)
+    print("here")
     return y + 1
""" + _CALL),
    Planted("item", "graph_breaks", """
 def f(x):
     y = x.softmax(-1)
-    return y / y.sum()
+    return y / y.sum().item()
""" + _CALL),
    Planted("tolist", "graph_breaks", """
 def f(x):
     y = x.relu()
-    sizes = y.shape
+    sizes = y[0, :2].tolist()
     return y * len(sizes)
""" + _CALL),
    Planted("branch on a value", "graph_breaks", """
 def f(x):
     y = x.relu()
-    return torch.where(y.sum() > 0, y * 2, y)
+    if y.sum() > 0:
+        return y * 2
+    return y
""" + _CALL),
    Planted("explicit break", "graph_breaks", """
 def f(x):
     y = x.relu()
+    torch._dynamo.graph_break()
     return y.sin()
""" + _CALL),
    Planted("disabled helper", "graph_breaks", """
+@torch.compiler.disable
 def helper(x):
     return x.sin()
 def f(x):
!    return helper(x.relu()) + 1
""" + _CALL),
    Planted("clock", "graph_breaks", """
 import time
 def f(x):
     y = x.relu()
+    time.sleep(0)
     return y.sin()
""" + _CALL),
    Planted("nonzero", "graph_breaks", """
 def f(x):
     y = x.relu()
-    return y.sin()
+    return y[y > 1].sin()
""" + _CALL),
    Planted("dynamic shape lost", "recompiles", """
 def f(x):
     return x.softmax(-1) * 2
 g = torch.compile(f)
 for size in (16, 24, 32):
     x = torch.randn(size, 64)
-    torch._dynamo.mark_dynamic(x, 0)
!    g(x)
"""),
    Planted("a number that changes", "recompiles", """
 def f(x, scale):
     return x.relu() * scale
 g, x = torch.compile(f), torch.randn(16, 64)
-for scale in (True, True):
+for scale in (True, False):
!    g(x, scale)
"""),
    Planted("another dtype of an input", "recompiles", """
 def f(x):
     return x.relu() * 2
 g, x = torch.compile(f), torch.randn(16, 64)
 g(x)
-g(x + 1)
+g(x.double())
"""),
    Planted("mode of a module", "recompiles", """
 class Net(torch.nn.Module):
     def forward(self, x):
         return F.dropout(x, 0.5, self.training).relu()
 net, x = Net(), torch.randn(16, 64)
 g = torch.compile(net)
 with torch.no_grad():
     g(x)
-    g(x)
+    g.eval()(x)
"""),
    Planted("gradients off and on", "recompiles", """
 def f(x):
     return x.relu() * 2
 g, x = torch.compile(f), torch.randn(16, 64)
 g(x)
-g(x)
+with torch.no_grad():
>    g(x)
"""),
    Planted("cumsum", "fallback", """
 def f(x):
     y = x.relu() * 2
-    return y.sum(-1)
+    return y.cumsum(-1)
""" + _CALL),
    Planted("sort", "fallback", """
 def f(x):
     y = x.relu() * 2
-    return y.amax(-1)
+    return y.sort(-1).values[:, -1]
""" + _CALL),
    Planted("topk", "fallback", """
 def f(x):
     y = x.sigmoid()
-    return y.amax(-1)
+    return y.topk(1, -1).values
""" + _CALL),
    Planted("histogram", "fallback", """
 def f(x):
     y = x.sigmoid()
-    return y.mean()
+    return torch.histc(y, 10)
""" + _CALL),
    Planted("complex numbers", "fallback", """
 def f(x):
     y = x.relu()
-    return y * 2
+    return (y * 2j).real
""" + _CALL),
    Planted("custom operator in the way", "fallback", """
 @torch.library.custom_op("planted::own", mutates_args=())
 def own(x: torch.Tensor) -> torch.Tensor:
     return x.sin()
 @own.register_fake
 def _(x):
     return torch.empty_like(x)
 def f(x):
     y = x.relu()
-    y = y.sin()
+    y = own(y)
     return y + 1
""" + _CALL),
    Planted("random numbers of eager", "fallback", """
 def f(x):
!    return F.dropout(x, 0.5) * 2
 x = torch.randn(256, 256)
-torch.compile(f)(x)
+torch.compile(f, options={"fallback_random": True})(x)
"""),
    Planted("transpose ends a fusion", "fused", """
 def f(x):
     y = x.softmax(-1)
-    return y.sum(-1) + y.amax(-1)
+    return y.sum(-1) + y.amax(-2)
""" + _CALL),
    Planted("copy of a transpose", "fused", """
 def f(x):
     y = x.relu() * 2
+    y = y.t().contiguous()
     return y.softmax(-1)
""" + _CALL),
    Planted("softmax over the other axis", "fused", """
 def f(x):
     y = x.exp()
     a = y.sum(-1)
-    b = y.sum(-1) * 2
+    b = y.sum(0) * 2
     return a, b
""" + _CALL),
    Planted("float32 in half precision", "dtypes", """
 def f(x):
     y = x.bfloat16() * 2
-    z = y.sin()
+    z = y.double()
     return z + y
""" + _CALL),
    Planted("upcast of a result", "dtypes", """
 def f(x):
     y = (x @ x).relu()
-    return y * 2
+    return y.double() * 2
""" + _CALL),
    Planted("autocast lost", "dtypes", """
 def f(x):
!    return (x @ x).relu()
 x = torch.randn(256, 256)
-with torch.no_grad(), torch.autocast("cpu", dtype=torch.bfloat16):
+with torch.no_grad():
     torch.compile(f)(x)
"""),
    Planted("result kept alive", "peak", """
 def f(x):
     y = x @ x
     z = y @ x
     w = z @ x
-    return w @ x
+    return w @ x, y
""" + _CALL),
    Planted("no reuse in place", "peak", """
 def f(x):
!    return (x @ x).relu()
 x = torch.randn(256, 256)
 with torch.no_grad():
-    torch.compile(f)(x)
+    torch.compile(f, options={"allow_buffer_reuse": False, "inplace_buffers": False})(x)
"""),
    Planted("needless clone", "fused", """
 def f(x):
-    y = x @ x
+    y = (x @ x).t().clone(memory_format=torch.contiguous_format)
     return y @ x
""" + _CALL),
    Planted("concatenation", "dtypes", """
 def f(x):
     a, b = x.relu(), x.sin()
-    return a, b
+    return torch.cat([a, b], -1)
""" + _CALL),
    Planted("largest kernel", "fused", """
 def f(x):
!    y = x.softmax(-1)
     return (y * 2 + 1).softmax(-1)
 x = torch.randn(256, 256)
 with torch.no_grad():
-    torch.compile(f)(x)
+    torch.compile(f, options={"max_fusion_size": 1})(x)
"""),
    Planted("no pattern matcher", "fused", """
 def f(x, w, b):
!    return (x @ w + b).relu()
 x = torch.randn(256, 256)
 with torch.no_grad():
-    torch.compile(f)(x, x, x[0])
+    torch.compile(f, options={"pattern_matcher": False})(x, x, x[0])
"""),
    Planted("wider layer", "flops", """
-width = 256
+width = 512
 w = torch.randn(256, width)
 def f(x):
!    return (x @ w).relu()
""" + _CALL),
    Planted("one layer more", "fused", """
 def f(x):
-    for _ in range(2):
+    for _ in range(3):
!        x = (x @ x).relu()
     return x
""" + _CALL),
    Planted("attention by hand", "fused", """
 def f(x):
     q = x.view(1, 4, 64, 256)
-    return F.scaled_dot_product_attention(q, q, q)
+    return (q @ q.transpose(-1, -2)).tanh() @ q
""" + _CALL),
    Planted("normalization by hand", "fused", """
 def f(x):
-    return F.layer_norm(x, (256,)).relu()
+    return ((x - x.mean(-1, keepdim=True)) / x.std(-1, keepdim=True)).relu()
""" + _CALL),
    Planted("checkpoint lost", "fused", """
 from torch.utils.checkpoint import checkpoint
 def block(x):
     return x.sin().exp().cos() @ x
 def f(x):
-    return checkpoint(block, x, use_reentrant=False).sin()
+    return block(x).sin()
""" + _TRAIN),
    Planted("gradient of an input", "graphs", """
!def f(x):
     return (x @ x).relu().sum()
-x = torch.randn(256, 256)
+x = torch.randn(256, 256, requires_grad=True)
 torch.compile(f)(x)
"""),
    Planted("activation of another kind", "fused", """
 def f(x):
-    return F.relu(x @ x) * 2
+    return F.gelu(x @ x) * 2
""" + _CALL),
    Planted("scatter", "dtypes", """
 def f(x):
     y = x.relu()
-    return y * 2
+    return y.scatter_add(0, torch.zeros(1, 256, dtype=torch.long), y * 2)
""" + _CALL),
    Planted("second model", "frames", """
 def f(x):
     return x.relu() * 2
+def g(x):
+    return x.sin() * 3
 x = torch.randn(16, 64)
 torch.compile(f)(x)
+torch.compile(g)(x)
"""),
)  # fmt: skip
