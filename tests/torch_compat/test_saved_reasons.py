"""Why a value is kept: our words for torch's, held against the partitioner of the torch that is installed."""

import ast
import inspect

import pytest
import torch
import torch._functorch.config
from torch._functorch import partitioners

from inspect_compile.knowledge.memory.saved_reasons import REASONS, SavedReason, by_code, by_words
from inspect_compile.torch_compat import Name
from tests.private_names import covers

_SAYS = ("should_ban_recomputation", "get_node_weight")
"""Functions that return a reason, alone or with a weight."""
OF_TORCH = [reason for reason in REASONS if reason.words and reason.versions]


def _given() -> set[str]:
    """All reasons that `solve_min_cut` gives."""
    given: list[ast.expr] = []
    for node in ast.walk(ast.parse(inspect.getsource(partitioners.solve_min_cut))):
        if isinstance(node, ast.FunctionDef) and node.name in _SAYS:
            returned = [one.value for one in ast.walk(node) if isinstance(one, ast.Return) and one.value is not None]
            given += [part for one in returned for part in (one.elts if isinstance(one, ast.Tuple) else [one])]
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "ban_recomputation_if_allowed":
            given += node.args
        if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") == "cannot_save_reason":
            given.append(node.value)
    return {one.value for one in given if isinstance(one, ast.Constant) and isinstance(one.value, str)}


def test_every_reason_that_torch_gives_is_known() -> None:
    here = {reason.words for reason in OF_TORCH if covers(Name("", "", "", reason.versions), torch.__version__)}
    assert _given() == here


@pytest.mark.parametrize("reason", [reason for reason in REASONS if reason.knob], ids=lambda reason: reason.code)
def test_a_setting_is_one_of_this_torch(reason: SavedReason) -> None:
    assert hasattr(torch._functorch.config, reason.knob)


def test_codes_and_words_stand_once() -> None:
    for texts in ([reason.code for reason in REASONS], [reason.words for reason in REASONS if reason.words]):
        assert sorted(set(texts)) == sorted(texts)
    assert all(by_code(reason.code) is reason for reason in REASONS)
    assert all(by_words(reason.words) is reason for reason in REASONS if reason.words)
