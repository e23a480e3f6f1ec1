"""What is the user's own code, and what a library's."""

import sysconfig

import pytest

from inspect_compile.facts import Location
from inspect_compile.knowledge.frontend.operator_names import operator_name
from inspect_compile.knowledge.frontend.own_code import is_library, own_first, own_line


@pytest.mark.parametrize(
    "file",
    [
        "/home/me/train.py",
        "/home/me/torch/models/net.py",
        "/home/me/lib/net.py",
        "/tmp/ipykernel_123/4.py",
        "net.py",
        r"C:\Users\me\train.py",
        "<stdin>",
        "<string>",
        "<ipython-input-1-abc>",
        "~program/train.py",
    ],
)
def test_own_code(file: str) -> None:
    assert not is_library(file)


@pytest.mark.parametrize(
    "file",
    [
        "/env/lib/python3.11/site-packages/transformers/pytorch_utils.py",
        "/usr/lib/python3/dist-packages/torch/optim/adam.py",
        "/home/me/project/.venv/lib/python3.12/site-packages/einops/einops.py",
        "/usr/lib/python3.11/functools.py",
        "/home/me/pytorch/torch/optim/adam.py",
        "/home/me/pytorch/torch/_tensor.py",
        "/home/me/pytorch/torch/functional.py",
        "~env/site-packages/transformers/activations.py",
        "~env/python3.11/functools.py",
        "~env/torch/nn/functional.py",
        r"C:\Python311\Lib\functools.py",
        r"C:\env\Lib\site-packages\timm\models.py",
        "<frozen importlib._bootstrap>",
        "<eval_with_key>.3",
        f"{sysconfig.get_path('stdlib')}/contextlib.py",
    ],
)
def test_libraries(file: str) -> None:
    assert is_library(file)


PROGRAM = Location("/home/me/train.py", 41)
STEP = Location("/env/site-packages/torch/optim/optimizer.py", 500, caller=PROGRAM)
ADAM = Location("/env/site-packages/torch/optim/adam.py", 414, caller=STEP)
ALONE = Location("/env/site-packages/timm/vit.py", 3)


def test_a_line_of_a_library_leads_to_the_user() -> None:
    assert own_line(ADAM) is PROGRAM
    assert own_line(PROGRAM) is PROGRAM
    assert own_line(ALONE) is None


def test_own_code_comes_first() -> None:
    assert sorted([None, ALONE, ADAM, PROGRAM], key=own_first) == [PROGRAM, ADAM, ALONE, None]


@pytest.mark.parametrize(
    ("target", "name"),
    [
        ("aten._softmax.default", "softmax"),
        ("aten.native_layer_norm.default", "layer_norm"),
        ("aten.native_layer_norm_backward.default", "layer_norm_backward"),
        ("aten._scaled_dot_product_flash_attention_for_cpu.default", "scaled_dot_product_attention"),
        ("aten.amax.default", "amax"),
        ("aten.mm.default", "matmul"),
        ("aten._foreach_add.List", "add"),
        ("aten._unsafe_view.default", "view"),
        ("prims.convert_element_type.default", "to"),
        ("operator.getitem", "getitem"),
        ("torch.relu", "relu"),
        ("mine.scale.default", "mine::scale"),
        ("", ""),
    ],
)
def test_operators_are_named_as_the_program_writes_them(target: str, name: str) -> None:
    assert operator_name(target) == name
