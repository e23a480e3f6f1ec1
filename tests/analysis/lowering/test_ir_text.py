# ruff: noqa: E501
"""IR texts made readable. The texts are torch 2.13's, of samples/conv_bias.py and of a layer norm."""

import textwrap

import pytest

from inspect_compile.analysis.lowering.ir_text import brief, expression, fold, layout_text

VIRTUAL = """\
TensorBox(StorageBox(
  Pointwise(
    'cpu',
    torch.float32,
    def inner_fn(index):
        i0, i1 = index
        tmp0 = ops.load(buf0, i1 + 8 * i0)
        tmp1 = ops.constant(2, torch.float32)
        tmp2 = tmp0 * tmp1
        tmp3 = ops.load(weight, i1)
        tmp4 = tmp2 + tmp3
        return tmp4
    ,
    ranges=[4, 8],
    origin_node=add,
    origins=OrderedSet([add, mul])
  )
))"""

VIEW = """\
TensorBox(
  View(
    StorageBox(
      Pointwise(
        'cpu',
        torch.float32,
        def inner_fn(index):
            i0, i1 = index
            tmp0 = ops.load(buf0, i1 + 8 * i0)
            return tmp0
        ,
        ranges=[4, 8],
        origin_node=add,
        origins=OrderedSet([add, mul])
      )
    ),
    size=[32],
    reindex=lambda i0: [ModularIndexing(i0, 8, 4), ModularIndexing(i0, 1, 8)],
    origins=OrderedSet([view, add, mul])
  )
)"""

REAL = """\
TensorBox(StorageBox(
  ComputedBuffer(name='buf1', layout=FixedLayout('cpu', torch.float32, size=[1, 10, 90, 80], stride=[72000, 1, 800, 10]), data=Pointwise(
    'cpu',
    torch.float32,
    def inner_fn(index):
        _, i1, i2, i3 = index
        tmp0 = ops.load(primals_3, i3 + 80 * i2 + 7200 * i1)
        return tmp0
    ,
    ranges=[1, 10, 90, 80],
    origin_node=unsqueeze,
    origins=OrderedSet([unsqueeze])
  ), _split_size=None, _original_inner_fn=None, _original_ranges=None, _original_reduction_ranges=None)
))"""

EXTERN = """\
TensorBox(StorageBox(
  ExternKernelAlloc(
    python_kernel_name='extern_kernels.convolution',
    name=buf2,
    layout=FixedLayout('cpu', torch.float32, size=[1, 10, 88, 78], stride=[68640, 1, 780, 10]),
    inputs=[ComputedBuffer(name='buf1', layout=FixedLayout('cpu', torch.float32, size=[1, 10, 90, 80], stride=[72000, 1, 800, 10]), data=Pointwise(
      'cpu',
      torch.float32,
      def inner_fn(index):
          _, i1, i2, i3 = index
          tmp0 = ops.load(primals_3, i3 + 80 * i2 + 7200 * i1)
          return tmp0
      ,
      ranges=[1, 10, 90, 80],
      origin_node=unsqueeze,
      origins=OrderedSet([unsqueeze])
    ), _split_size=None, _original_inner_fn=None, _original_ranges=None, _original_reduction_ranges=None), ComputedBuffer(name='buf0', layout=FixedLayout('cpu', torch.float32, size=[10, 10, 3, 3], stride=[90, 1, 30, 10]), data=Pointwise(
      'cpu',
      torch.float32,
      def inner_fn(index):
          i0, i1, i2, i3 = index
          tmp0 = ops.load(primals_1, i3 + 3 * i2 + 9 * i1 + 90 * i0)
          return tmp0
      ,
      ranges=[10, 10, 3, 3],
      origin_node=primals_1,
      origins=OrderedSet([primals_1])
    ), _split_size=None, _original_inner_fn=None, _original_ranges=None, _original_reduction_ranges=None), InputBuffer(name='primals_2', layout=FixedLayout('cpu', torch.float32, size=[10], stride=[1]))],
    constant_args=(),
    kwargs={'stride': (1, 1), 'groups': 1},
    output_view=None,
    arg_properties=[{'name': 'input', 'type': Tensor, 'default_value': None}],
    origin_node=convolution,
    origins=OrderedSet([convolution])
  )
))"""

REINTERPRETED = """\
TensorBox(
  ReinterpretView(
    StorageBox(
      ExternKernelOut(
        python_kernel_name='extern_kernels.addmm',
        name=buf4,
        layout=FixedLayout('cpu', torch.float32, size=[64, 192], stride=[192, 1]),
        inputs=[InputBuffer(name='arg5_1', layout=FixedLayout('cpu', torch.float32, size=[192], stride=[1]))],
        origins=OrderedSet([addmm])
      )
    ),
    FixedLayout('cpu', torch.float32, size=[2, 32, 64], stride=[6144, 192, 1], offset=64),
    origins=OrderedSet([split, view_2])
  )
)"""

TWO = """\
[TensorBox(StorageBox(
  MultiOutput(
    python_kernel_name=None,
    name=buf8,
    layout=FixedLayout('cpu', torch.float32, size=[2, 32], stride=[32, 1]),
    origins=OrderedSet([sort])
  )
)), TensorBox(StorageBox(
  MultiOutput(
    python_kernel_name=None,
    name=buf9,
    layout=FixedLayout('cpu', torch.int64, size=[2, 32], stride=[32, 1]),
    origins=OrderedSet([sort])
  )
))]"""


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (VIRTUAL, "TensorBox(StorageBox(Pointwise f32[4, 8]: (load(buf0, i1 + 8 * i0) * 2) + load(weight, i1)))"),
        (VIEW, "TensorBox(View(StorageBox(Pointwise f32[4, 8]: load(buf0, i1 + 8 * i0)) → [32]))"),
        (REAL, "TensorBox(StorageBox(ComputedBuffer buf1 f32[1, 10, 90, 80] stride [72000, 1, 800, 10]))"),
        (EXTERN, "TensorBox(StorageBox(ExternKernelAlloc buf2 f32[1, 10, 88, 78] stride [68640, 1, 780, 10]))"),
        (
            REINTERPRETED,
            "TensorBox(ReinterpretView(StorageBox(ExternKernelOut buf4 f32[64, 192]) → f32[2, 32, 64] stride [6144, 192, 1] offset 64))",
        ),
        (
            TWO,
            "[TensorBox(StorageBox(MultiOutput buf8 f32[2, 32])), TensorBox(StorageBox(MultiOutput buf9 i64[2, 32]))]",
        ),
        ("s33", "s33"),
        ("None", "None"),
        ("", ""),
    ],
)
def test_a_value_in_one_line(text: str, told: str) -> None:
    assert brief(text) == told


def test_a_value_that_became_real_is_told_as_what_it_is_now() -> None:
    now = {"add": "ComputedBuffer buf7 f32[4, 8]"}.get

    assert brief(VIRTUAL, now) == "TensorBox(StorageBox(ComputedBuffer buf7 f32[4, 8]))"
    assert brief(VIEW, now) == "TensorBox(View(StorageBox(ComputedBuffer buf7 f32[4, 8]) → [32]))"
    assert brief(REAL, now) == brief(REAL)


def test_what_was_told_is_folded() -> None:
    told = {"buf1", "buf0"}

    assert fold(EXTERN, told) == textwrap.dedent("""\
        TensorBox(StorageBox(
          ExternKernelAlloc(
            python_kernel_name='extern_kernels.convolution',
            name=buf2,
            layout=FixedLayout('cpu', torch.float32, size=[1, 10, 88, 78], stride=[68640, 1, 780, 10]),
            inputs=[ComputedBuffer(name='buf1', layout=FixedLayout('cpu', torch.float32, size=[1, 10, 90, 80], stride=[72000, 1, 800, 10]), data=Pointwise( … )), ComputedBuffer(name='buf0', layout=FixedLayout('cpu', torch.float32, size=[10, 10, 3, 3], stride=[90, 1, 30, 10]), data=Pointwise( … )), InputBuffer(name='primals_2', layout=FixedLayout('cpu', torch.float32, size=[10], stride=[1]))],
            constant_args=(),
            kwargs={'stride': (1, 1), 'groups': 1},
            origin_node=convolution,
            origins=OrderedSet([convolution])
          )
        ))""")
    assert told == {"buf0", "buf1", "buf2"}
    assert "name=buf2, layout=FixedLayout" in fold(EXTERN, told)
    assert "inputs" not in fold(EXTERN, told)


def test_what_was_not_told_stays_whole() -> None:
    told: set[str] = set()

    assert "ops.load(primals_3, i3 + 80 * i2 + 7200 * i1)" in fold(EXTERN, told)
    assert "_split_size" not in fold(EXTERN, set())
    assert "arg_properties" not in fold(EXTERN, set())
    assert told == {"buf0", "buf1", "buf2"}


def test_a_virtual_value_is_folded_where_another_node_shows_it() -> None:
    assert "Pointwise(%add … )" in fold(VIEW, {"%add"}, node="view")
    assert "ops.load" in fold(VIEW, {"%add"}, node="add")
    assert "ops.load" in fold(VIEW, set(), node="view")


def test_addresses_are_left_out() -> None:
    assert fold("graph=<torch._inductor.graph.SubgraphLowering object at 0x7fefdf13a1d0>)", set()) == (
        "graph=<torch._inductor.graph.SubgraphLowering object>)"
    )


@pytest.mark.parametrize(
    ("layout", "told"),
    [
        ("FixedLayout('cpu', torch.float32, size=[4, 8], stride=[8, 1])", "f32[4, 8]"),
        ("FixedLayout('cpu', torch.float32, size=[4, 1, 8], stride=[8, 77, 1])", "f32[4, 1, 8]"),
        ("FlexibleLayout('cuda:0', torch.bfloat16, size=[8, 4], stride=[1, 8])", "bf16[8, 4] stride [1, 8]"),
        ("FixedLayout('cpu', torch.float8_e4m3fn, size=[], stride=[])", "float8_e4m3fn[]"),
        ("FixedLayout('cpu', torch.float32, size=[s77, 8], stride=[8, 1])", "f32[s77, 8] stride [8, 1]"),
        ("MultiOutputLayout(device=device(type='cpu'))", "MultiOutputLayout"),
    ],
)
def test_layouts(layout: str, told: str) -> None:
    assert layout_text(layout) == told


def test_parentheses_keep_the_meaning() -> None:
    lines = [
        "",
        "        tmp0 = ops.index_expr(i1, torch.int64)",
        "        tmp1 = ops.constant(3, torch.int64)",
        "        tmp2 = tmp0 + tmp1",
        "        tmp3 = ops.load(arg2_1, i2 + 64 * tmp2)",
        "        tmp4 = ops.where(tmp2, tmp3, tmp3)",
        "        return tmp4",
        "    ",
    ]

    assert expression(lines) == "where(i1 + 3, load(arg2_1, i2 + 64 * (i1 + 3)), load(arg2_1, i2 + 64 * (i1 + 3)))"


def test_a_long_expression_is_counted() -> None:
    lines = [f"tmp{n} = ops.load(buf{n}, i1 + 64 * i0 + 4096 * i2)" for n in range(8)]
    lines += [f"tmp{8 + n} = tmp{n} + tmp{n + 1}" for n in range(7)]

    assert expression([*lines, "tmp15 = tmp13 + tmp14", "return tmp15"]) == "16 statements"


def test_an_expression_that_doubles_with_each_statement_is_counted_at_once() -> None:
    lines = ["tmp0 = ops.load(arg0_1, i0)", *(f"tmp{i} = tmp{i - 1} + tmp{i - 1}" for i in range(1, 80))]
    assert expression([*lines, "return tmp79"]) == "80 statements"
