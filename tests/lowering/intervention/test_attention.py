"""Attention, and what else torch takes apart by device, traced on the CPU as for a GPU.

What is expected of torch 2.15 is what its build for CUDA does.
"""

import functools
import json
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from inspect_compile.lowering.intervention.cross_compile.attention import rules as attention_rules
from inspect_compile.lowering.intervention.cross_compile.attention.call import Call, Device, Operand, Switches
from inspect_compile.lowering.intervention.cross_compile.attention.choice import KernelChoice, choose
from tests.private_names import version
from tests.running import run

PROGRAM = Path(__file__).parents[1] / "programs/traced_for_a_gpu.py"
VERSION = attention_rules.version_of(torch.__version__)
HOPPER, AMPERE, TURING = (9, 0), (8, 0), (7, 5)
SWITCHES = Switches(
    frozenset({"cudnn", "flash", "efficient", "math"}), ("flash", "efficient", "math", "cudnn"), False, True
)


@functools.cache
def traced(gpu: str = "9.0", backend: str = "cuda", *names: str) -> dict[str, Any]:
    """Each case of the program, traced by a process that stands for that GPU."""
    ended = run([sys.executable, PROGRAM, gpu, backend, *names], PROGRAM.parent)
    assert ended.returncode == 0, ended.stderr
    return {case["name"]: case for case in map(json.loads, ended.stdout.splitlines())}


def kernels(operators: list[str]) -> list[str]:
    """The kernels of attention among them; math by its products."""
    short = [operator.removeprefix("aten.").removesuffix(".default") for operator in operators]
    known = {f"_scaled_dot_product_{kernel}_attention": kernel for kernel in ("cudnn", "flash", "efficient")}
    known |= {f"{operator}_backward": f"{kernel} backward" for operator, kernel in known.items()}
    return [known.get(operator, operator) for operator in short if "attention" in operator or operator == "bmm"]


MATH = ["bmm", "bmm"]
GROUPS = ["efficient"] if VERSION >= (2, 15) else MATH


@pytest.mark.parametrize(
    ("case", "forward", "backward"),
    [
        ("inference", ["efficient"], []),
        ("training", ["efficient"], ["efficient backward"]),
        ("inference mode", ["efficient"], []),
        ("half", ["cudnn"], []),
        ("brain", ["cudnn"], ["cudnn backward"]),
        ("bool mask", ["efficient"], ["efficient backward"]),
        ("bool mask half", ["cudnn"], []),
        ("float mask", ["efficient"], []),
        ("mask of odd length", ["efficient"], []),
        ("mask of one column, expanded", MATH, []),
        ("causal", ["cudnn"], ["cudnn backward"]),
        ("causal single", ["efficient"], []),
        ("dropout", ["efficient"], ["efficient backward"]),
        ("dropout half", ["cudnn"], ["cudnn backward"]),
        ("groups", GROUPS, []),
        ("groups half", ["cudnn"], ["cudnn backward"]),
        ("odd head", MATH, []),
        ("odd head half", ["flash"], ["flash backward"]),
        ("double", MATH, []),
        ("only math", [*MATH, "efficient"], ["efficient backward", *MATH, *MATH]),
        ("branch", ["efficient"], []),
        ("vmap", ["efficient"], []),
        ("dynamic", ["efficient"], ["efficient backward"]),
    ],
)
def test_attention_becomes_the_kernel_that_an_h100_takes(case: str, forward: list[str], backward: list[str]) -> None:
    found = traced()[case]

    assert kernels(found["forward"]) == forward
    assert kernels(found["backward"]) == backward


@pytest.mark.parametrize(
    ("gpu", "case", "kernel"),
    [("8.0", "half", "flash"), ("8.0", "bool mask half", "efficient"), ("7.5", "half", "efficient")],
)
def test_another_gpu_takes_another_kernel(gpu: str, case: str, kernel: str) -> None:
    found = traced(gpu, "cuda", "half", "bool mask half")[case]

    assert kernels(found["forward"]) == [kernel]


def test_nothing_runs_for_no_elements() -> None:
    assert kernels(traced()["empty"]["forward"]) in ([], MATH)
    assert "flash" not in str(traced()["empty"]["forward"])


def test_a_mask_is_padded_for_the_kernel_and_sliced_back() -> None:
    operators = traced()["mask of odd length"]["forward"]

    assert [operator for operator in operators if operator.startswith(("aten.constant_pad", "aten.slice"))] == [
        "aten.constant_pad_nd.default",
        "aten.slice.Tensor",
    ]


def test_an_odd_head_dimension_is_padded_for_flash_and_sliced_back() -> None:
    operators = traced()["odd head half"]["forward"]

    assert "aten.constant_pad_nd.default" in operators
    assert "aten.slice.Tensor" in operators


def test_every_decision_says_why() -> None:
    (decision,) = traced()["mask of one column, expanded"]["decided"]

    assert decision == {
        "op": "aten.scaled_dot_product_attention.default",
        "kernel": "math",
        "reason": "cudnn takes float16 or bfloat16, not float32, flash takes no mask, "
        "efficient takes a mask whose last dimension has stride 1, not 0",
        "certain": True,
    }


def test_a_choice_for_amd_is_a_guess() -> None:
    case = traced("9.4", "hip", "half", "bool mask")

    assert kernels(case["half"]["forward"]) == ["flash"]
    assert kernels(case["bool mask"]["forward"]) == ["efficient"]
    for decision in (*case["half"]["decided"], *case["bool mask"]["decided"]):
        assert not decision["certain"]
        assert "a guess" in decision["reason"]


OF_COLUMNS = pytest.mark.skipif(
    version(torch.__version__) < (2, 13), reason="torch 2.11 leaves the product of a column and a row as it is on GPUs"
)


@pytest.mark.parametrize(
    ("case", "direction", "operator"),
    [
        ("convolution", "backward", "aten.sum.dim_IntList"),
        ("lstm_cell", "forward", "aten._thnn_fused_lstm_cell.default"),
        pytest.param("column", "forward", "aten.mul.Tensor", marks=OF_COLUMNS),
        ("rms_norm", "forward", "aten.add.Scalar"),
        ("rms_norm", "backward", "aten.sub.Tensor"),
    ],
)
def test_other_operators_are_taken_apart_as_on_a_gpu(case: str, direction: str, operator: str) -> None:
    assert operator in traced()[case][direction]


@pytest.mark.parametrize(
    ("case", "operator"),
    [
        ("dropout2d", "aten.bernoulli"),
        ("group_norm", "aten.neg"),
        pytest.param("column", "aten.mm", marks=OF_COLUMNS),
    ],
)
def test_what_only_a_cpu_has_is_not_there(case: str, operator: str) -> None:
    assert operator not in str(traced()[case]["forward"])


def test_what_was_not_mended_is_named() -> None:
    assert traced()["masked_scatter"]["remaining"] == ["masked_scatter is decomposed if the device has masked loads"]
    assert traced()["half"]["remaining"] == []


def operand(*sizes: int, dtype: torch.dtype = torch.float32, grad: bool = False, last: int = 1) -> Operand:
    strides = [last]
    for size in reversed(sizes[1:]):
        strides.append(strides[-1] * size)
    return Operand(sizes, tuple(reversed(strides)), 0, dtype, grad, False)


def call(
    *sizes: int, dtype: torch.dtype = torch.float32, mask: Operand | None = None, grad: bool = False, dropout: float = 0
) -> Call:
    query = operand(*sizes, dtype=dtype, grad=grad)
    return Call(query, query, query, mask, dropout, False, False, True)


def chosen(asked: Call, gpu: tuple[int, int] = HOPPER, version: tuple[int, int] = (2, 11)) -> KernelChoice:
    return choose(asked, SWITCHES, Device(gpu, False), attention_rules.of(version)[0])


def test_gpt2_and_llama_in_single_precision_take_efficient_attention() -> None:
    assert chosen(call(2, 4, 16, 16, mask=operand(2, 1, 16, 16, dtype=torch.bool))).kernel == "efficient"
    assert chosen(call(2, 4, 16, 16, mask=operand(2, 1, 16, 16))).kernel == "efficient"


def test_bert_whose_mask_is_one_column_expanded_takes_math() -> None:
    mask = Operand((2, 1, 16, 16), (0, 16, 1, 0), 0, torch.bool, False, False)

    assert chosen(call(2, 4, 16, 16, mask=mask)).kernel == "math"


@pytest.mark.parametrize(
    ("head", "version", "grad", "kernel"),
    [
        (256, (2, 11), True, "cudnn"),
        (256, (2, 14), True, "cudnn"),
        (192, (2, 11), True, "cudnn"),
        (192, (2, 14), True, "flash"),
        (192, (2, 14), False, "cudnn"),
        (264, (2, 14), False, "efficient"),
        (127, (2, 14), False, "flash"),
    ],
)
def test_head_dimensions_follow_torch_s_version(head: int, version: tuple[int, int], grad: bool, kernel: str) -> None:
    assert chosen(call(2, 4, 16, head, dtype=torch.float16, grad=grad), version=version).kernel == kernel


@pytest.mark.parametrize(("version", "kernel"), [((2, 11), "cudnn"), ((2, 12), "flash"), ((2, 15), "flash")])
def test_cudnn_takes_dropout_in_sixteenths_since_2_12(version: tuple[int, int], kernel: str) -> None:
    assert chosen(call(2, 4, 16, 64, dtype=torch.float16, dropout=0.1), version=version).kernel == kernel


def test_where_a_version_may_have_either_rule_both_are_there() -> None:
    likely, *others = attention_rules.of((2, 11))

    assert not likely.cudnn_dropout
    assert [rules.cudnn_dropout for rules in others] == [True]
    assert attention_rules.of((2, 15)) == (attention_rules.of((2, 15))[0],)


def test_a_version_not_known_yet_is_taken_for_the_newest() -> None:
    assert attention_rules.of((2, 17)) == attention_rules.of((2, 15))


def test_cudnn_comes_first_only_where_nothing_speaks_against_it() -> None:
    half = call(2, 4, 16, 64, dtype=torch.float16)

    assert chosen(half).kernel == "cudnn"
    assert chosen(half, AMPERE).kernel == "flash"
    assert chosen(half, TURING).kernel == "efficient"
    rules = attention_rules.of((2, 13))[0]
    assert choose(half, SWITCHES._replace(cudnn_first=False), Device(HOPPER, False), rules).kernel == "flash"
    assert choose(half, SWITCHES._replace(deterministic=True), Device(HOPPER, False), rules).kernel == "flash"


def test_nothing_is_chosen_where_the_program_allows_nothing_that_fits() -> None:
    only_flash = SWITCHES._replace(enabled=frozenset({"flash"}))
    choice = choose(call(2, 4, 16, 64), only_flash, Device(HOPPER, False), attention_rules.of((2, 13))[0])

    assert choice.kernel is None
    assert dict(choice.refused)["flash"] == "takes float16 or bfloat16, not float32"
    assert dict(choice.refused)["math"] == "is switched off"
