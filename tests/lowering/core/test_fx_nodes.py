"""Names of what FX nodes call."""

import copy
import operator
import weakref

import torch

from inspect_compile.lowering.core.fx_nodes import target_name


def test_a_copy_of_an_operator_has_its_name_and_is_not_kept() -> None:
    """In graphs that AOTAutograd made each node has a copy of an operator, of the same hash, which equals no other."""
    operator_of_torch = torch.ops.aten.add.Tensor
    copied = copy.copy(operator_of_torch)
    assert copied != operator_of_torch
    assert target_name(copied) == target_name(operator_of_torch) == "aten.add.Tensor"
    seen = weakref.ref(copied)
    del copied
    assert seen() is None


def test_names_are_those_of_the_program() -> None:
    assert target_name(torch.ops.aten.relu.default) == "aten.relu.default"
    assert target_name(torch.ops.aten.relu) == "aten.relu"
    assert target_name(operator.getitem) == "operator.getitem"
    assert target_name("x") == "x"
