"""Runs Triton kernels in Triton's interpreter with the values of their statements written out, and prints these.

Each kernel stands in the code of a graph as torch writes it. A line of JSON for each: how often the element was stored,
the line that stored it, what the buffer holds afterwards, and for each statement its line and the values that it had.
"""

import json
import os
from types import SimpleNamespace

os.environ["TRITON_INTERPRET"] = "1"

import torch

from inspect_compile.codegen.numerics.operations import Body, Store
from inspect_compile.codegen.numerics.triton_kernel import triton_kernel

FORM = """
{name} = async_compile.triton('{name}', '''
import triton
import triton.language as tl

from torch._inductor.runtime import triton_helpers, triton_heuristics
triton_helpers.set_driver_to_gpu()

@triton.jit
def twice(value):
    return value * 2

@triton_heuristics.pointwise(
    size_hints={{'x': 64}},
)
@triton.jit
{text}''', device_str='cuda')
"""

POINTWISE = """def pointwise(in_ptr0, in_ptr1, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 30
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x0 = (xindex % 5)
    x1 = xindex // 5
    tmp0 = tl.load(in_ptr0 + (x0 + 5*x1), xmask)
    tmp1 = tl.load(in_ptr1 + (x0), xmask, eviction_policy='evict_last')
    tmp2 = tmp0 + tmp1
    tmp3 = twice(tmp2)
    tl.store(out_ptr0 + (x1 + 6*x0), tmp3, xmask)
"""

TILED = """def tiled(in_ptr0, out_ptr0, ynumel, xnumel, YBLOCK : tl.constexpr, XBLOCK : tl.constexpr):
    ynumel = 6
    xnumel = 5
    yoffset = tl.program_id(1) * YBLOCK
    yindex = yoffset + tl.arange(0, YBLOCK)[:, None]
    ymask = yindex < ynumel
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[None, :]
    xmask = xindex < xnumel
    x1 = xindex
    y0 = yindex
    tmp0 = tl.load(in_ptr0 + (x1 + 5*y0), xmask & ymask)
    tmp1 = -tmp0
    tl.store(out_ptr0 + (y0 + 6*x1), tmp1, xmask & ymask)
"""

PERSISTENT = """def persistent(in_out_ptr0, out_ptr0, xnumel, r0_numel, XBLOCK : tl.constexpr):
    xnumel = 6
    r0_numel = 5
    R0_BLOCK: tl.constexpr = 8
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    r0_index = tl.arange(0, R0_BLOCK)[None, :]
    r0_mask = r0_index < r0_numel
    r0_1 = r0_index
    x0 = xindex
    tmp0 = tl.load(in_out_ptr0 + (r0_1 + 5*x0), r0_mask & xmask, other=0.0)
    tmp1 = tl.broadcast_to(tmp0, [XBLOCK, R0_BLOCK])
    tmp3 = tl.where(r0_mask & xmask, tmp1, 0)
    tmp4 = tl.sum(tmp3, 1)[:, None].to(tl.float32)
    tmp5 = tmp0 - tmp4
    tl.store(in_out_ptr0 + (r0_1 + 5*x0), tmp5, r0_mask & xmask)
    tl.store(out_ptr0 + (x0), tmp4, xmask)
"""

LOOPED = """def looped(in_ptr0, out_ptr0, xnumel, r0_numel, XBLOCK : tl.constexpr, R0_BLOCK : tl.constexpr):
    xnumel = 6
    r0_numel = 5
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:, None]
    xmask = xindex < xnumel
    r0_base = tl.arange(0, R0_BLOCK)[None, :]
    x0 = xindex
    _tmp2 = tl.full([XBLOCK, R0_BLOCK], 0, tl.float32)
    for r0_offset in range(0, r0_numel, R0_BLOCK):
        r0_index = r0_offset + r0_base
        r0_mask = r0_index < r0_numel
        tmp0 = tl.load(in_ptr0 + (r0_index + 5*x0), r0_mask & xmask, other=0.0)
        tmp1 = tl.broadcast_to(tmp0, [XBLOCK, R0_BLOCK])
        tmp3 = _tmp2 + tmp1
        _tmp2 = tl.where(r0_mask & xmask, tmp3, _tmp2)
    tmp2 = tl.sum(_tmp2, 1)[:, None]
    tl.store(out_ptr0 + (x0), tmp2, xmask)
"""

SCATTERED = """def scattered(in_ptr0, in_ptr1, out_ptr0, xnumel, XBLOCK : tl.constexpr):
    xnumel = 30
    xoffset = tl.program_id(0) * XBLOCK
    xindex = xoffset + tl.arange(0, XBLOCK)[:]
    xmask = xindex < xnumel
    x0 = xindex
    tmp0 = tl.load(in_ptr0 + (x0), xmask)
    tmp1 = tl.load(in_ptr1 + (x0), xmask)
    tl.atomic_add(out_ptr0 + (tmp0), tmp1, xmask, sem='relaxed')
"""

COMBINED = """def combined(in_ptr0, in_ptr1, out_ptr0, out_ptr1, XBLOCK : tl.constexpr):
    pid = tl.program_id(0)
    num_xblocks_0 = tl.cdiv(30, XBLOCK)
    num_xblocks_1 = num_xblocks_0 + tl.cdiv(6, XBLOCK)
    if pid < num_xblocks_0:
        pid_offset = pid
        xnumel = 30
        r0_numel = 1
        xoffset = pid_offset * XBLOCK
        xindex = xoffset + tl.arange(0, XBLOCK)[:]
        xmask = xindex < xnumel
        x0 = xindex
        tmp0 = tl.load(in_ptr0 + (x0), xmask)
        tmp1 = -tmp0
        tl.store(out_ptr0 + (x0), tmp1, xmask)
    elif pid < num_xblocks_1:
        pid_offset = pid - num_xblocks_0
        xnumel = 6
        r0_numel = 5
        R0_BLOCK_1: tl.constexpr = 8
        xoffset = pid_offset * XBLOCK
        xindex = xoffset + tl.arange(0, XBLOCK)[:, None]
        xmask = xindex < xnumel
        r0_index = tl.arange(0, R0_BLOCK_1)[None, :]
        r0_mask = r0_index < r0_numel
        r0_2 = r0_index
        x1 = xindex
        tmp2 = tl.load(in_ptr1 + (r0_2 + 5*x1), r0_mask & xmask, other=0.0)
        tmp3 = tl.broadcast_to(tmp2, [XBLOCK, R0_BLOCK_1])
        tmp5 = tl.where(r0_mask & xmask, tmp3, 0)
        tmp6 = tl.sum(tmp5, 1)[:, None].to(tl.float32)
        tl.store(out_ptr1 + (x1), tmp6, xmask)
    else:
        pass
"""


LOST = 99
"""Where the statement that stores is to stand, if it does not."""


def run(
    text: str,
    arguments: tuple[object, ...],
    buffer: torch.Tensor,
    place: tuple[int, ...],
    stored: str,
    before: tuple[Body, ...] = (),
    after: tuple[Body, ...] = (),
) -> None:
    """`before` and `after` are the bodies of the other parts of a combo kernel."""
    name = text[4 : text.index("(")]
    body = Body(stores=[due := Store("buf0", None, stored)], lines={due: LOST})
    config = SimpleNamespace(kwargs={"XBLOCK": 4, "YBLOCK": 4, "R0_BLOCK": 2}, num_warps=1)
    function = SimpleNamespace(fn=SimpleNamespace(src=text), launchers=[SimpleNamespace(config=config)])
    kernel = triton_kernel(function, {0: (*before, body, *after)}, FORM.format(name=name, text=text))
    assert not isinstance(kernel, str), kernel
    assert kernel is not None
    values = kernel.run(arguments, ["buf0"], buffer[place].data_ptr())
    rows = {kernel.points[at].name: lanes for at, lanes in values.lanes.items() if kernel.points[at].kind == "value"}
    lines = [point.line for point in kernel.points]
    own = {point.name for point in kernel.points if kernel.body(point.line) is body}
    missing = None if values.stored else kernel.missing("buf0", 0)
    line = values.store.line if values.store is not None else missing.line if missing is not None else 0
    print(json.dumps({"kernel": name, "stored": values.stored, "lane": values.lane, "line": line, "lines": lines,
                      "loops": dict(values.loops), "values": rows, "own": sorted(own), "buffer": float(buffer[place])}))  # fmt: skip


def main() -> None:
    grid = torch.arange(30, dtype=torch.float32).view(6, 5)
    bias = torch.arange(5, dtype=torch.float32) / 8
    run(POINTWISE, (grid, bias, out := torch.zeros(5, 6), 30), out, (3, 2), "tmp3")
    masked = POINTWISE.replace("tmp3, xmask)", "tmp3, xmask & (xindex > 20))")
    run(masked, (grid, bias, out := torch.zeros(5, 6), 30), out, (3, 2), "tmp3")
    run(masked, (grid, bias, out := torch.zeros(5, 6), 30), out, (3, 2), "tmp9")
    run(TILED, (grid, out := torch.zeros(5, 6), 6, 5), out, (3, 2), "tmp1")
    run(PERSISTENT, (grid, torch.zeros(6), 6, 5), grid, (4, 3), "tmp5")
    run(PERSISTENT, (grid, out := torch.zeros(6), 6, 5), out, (4,), "tmp4")
    run(LOOPED, (grid, out := torch.zeros(6), 6, 5), out, (4,), "tmp2")
    places = torch.arange(30) % 7
    run(SCATTERED, (places, grid.view(-1), out := torch.zeros(7), 30), out, (3,), "tmp1")
    other = (Body(),)
    in_turn = COMBINED.replace("pid < num_xblocks_0", "pid % 2 == 0").replace("pid < num_xblocks_1", "pid % 2 == 1")
    in_turn = in_turn.replace("pid_offset = pid - num_xblocks_0", "pid_offset = pid // 2")
    in_turn = in_turn.replace("pid_offset = pid\n", "pid_offset = pid // 2\n").replace("combined(", "in_turn(")
    run(COMBINED, (grid, grid, out := torch.zeros(30), torch.zeros(6)), out, (13,), "tmp1", after=other)
    run(COMBINED, (grid, grid, torch.zeros(30), out := torch.zeros(6)), out, (4,), "tmp6", before=other)
    run(in_turn, (grid, grid, out := torch.zeros(30), torch.zeros(6)), out, (29,), "tmp1", after=other)
    run(in_turn, (grid, grid, torch.zeros(30), out := torch.zeros(6)), out, (4,), "tmp6", before=other)


if __name__ == "__main__":
    main()
