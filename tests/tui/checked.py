"""What a check of numerics could have found in the recorded dump."""

from pathlib import Path
from typing import Any

import msgspec

from inspect_compile.dump import Dump, Writer
from inspect_compile.facts import ALL_CALLS, Checked, Fact, NonFinite, NumericsCall, NumericsRequest, Operand
from tests.tui.driving import FORWARD

LAYER_NORM = "cpp_fused_native_layer_norm_relu_1"
GELU = "cpp_fused_gelu_view_2"
SOFTMAX = "cpp_fused__softmax_add_argmax_mul_transpose_view_3"


def found(index: int, kernel: str, line: int | None, buffer: str, node: str, **more: Any) -> Checked:
    """One result of the launch at that position, which is not eager's to the bit: rounding, unless `more` says more."""
    fields = {
        "graph": FORWARD, "call": 1, "index": index, "kernel": kernel, "line": line, "buffer": buffer, "node": node,
        "dtype": "float32", "size": (4, 16, 32, 32), "elements": 65536, "differing": 4000,
        "rmse": 2.1e-8, "eager_rmse": 2e-8, "noise_rmse": 2.2e-8, "exact_rms": 0.6,
        "worst_error": 1.4e-7, "eager_worst_error": 1.3e-7, "noise_worst": 1.5e-7,
        "ulp_median": 0.12, "ulp_99": 0.9, "ulp_worst": 2.0,
        "worst": (1, 7, 30, 2), "compiled": 1.2345678, "eager": 1.2345677, "exact": 1.23456775,
    }  # fmt: skip
    if more.get("is_equal") or more.get("reason"):  # nothing is measured then
        fields = {name: fields[name] for name in ("graph", "call", "index", "kernel", "line", "buffer", "node")}
    return Checked(**{**fields, **more})


def launches() -> list[Fact]:
    """Each verdict once, among others, in the forward graph."""
    far = {
        "rmse": 1.2e-2,
        "worst_error": 0.61,
        "unexplained": 2100,
        "ulp_median": 7.0,
        "ulp_99": 4.1e5,
        "ulp_worst": 5.1e6,
    }
    unmeasured: dict[str, Any] = {"rmse": None, "worst_error": None, "ulp_worst": None}
    return [
        found(-1, "", None, "result 0", "sum_3", level="all passes", is_equal=True),
        found(0, "cpp_fused_0", 661, "buf0", "", reason="a step of the lowering of convolution"),
        found(1, "extern_kernels.convolution", 665, "buf2", "convolution", is_equal=True),
        found(2, LAYER_NORM, 677, "buf3", "getitem_1", rmse=4e-9),
        found(2, LAYER_NORM, 677, "buf4", "relu", is_equal=True),
        found(3, "extern_kernels.addmm", 681, "buf8", "addmm"),
        found(4, GELU, 686, "buf9", "view_2", **far, compiled=0.84, eager=0.23, exact=0.230004),
        found(5, "extern_kernels.addmm", 689, "buf10", "addmm_1"),
        found(6, SOFTMAX, 699, "buf12", "amax", is_equal=True),
        found(6, SOFTMAX, 699, "buf13", "sum_1", rmse=2.9e-7, worst_error=8e-7, ulp_worst=9.0),
        found(6, SOFTMAX, 699, "buf17", "argmax", dtype="int64", untied=3, differing=3, **unmeasured),
        NumericsCall(graph=FORWARD, call=1, launches=9, reference_seconds=0.1, forced_seconds=0.4),
    ]


def finding() -> NonFinite:
    """The first NaN, made where the softmax subtracts its maximum."""
    read = Operand(
        node="view_3",
        dtype="float32",
        size=(4, 16, 32, 32),
        value="-inf",
        smallest="-6.17",
        largest="4.8",
        has_inf=True,
    )
    return NonFinite(
        graph=FORWARD, call=2, kind="NaN", output=0, index=6, kernel=SOFTMAX, line=699, buffer="buf12", in_eager=True,
        node="sub_1", from_inf="view_3", element=(2, 0, 0, 0), value="nan", count=8, elements=65536, dtype="float32",
        operands=(read, msgspec.structs.replace(read, node="amax")),
    )  # fmt: skip


def add(dump: Dump, *facts: Fact, asked: NumericsRequest) -> Dump:
    """The dump with these facts."""
    writer = Writer(dump.root)
    writer.run(msgspec.structs.replace(dump.run, numerics=asked))
    for fact in facts:
        writer.add(fact)
    writer.flush()
    return Dump(Path(dump.root))


def with_launches(dump: Dump) -> Dump:
    """The dump of a program whose launches were checked."""
    return add(dump, *launches(), asked=NumericsRequest())


def with_finding(dump: Dump) -> Dump:
    """The dump of a program whose results were looked through for NaN and Inf."""
    return add(dump, finding(), asked=NumericsRequest(calls=ALL_CALLS, nonfinite=True))
