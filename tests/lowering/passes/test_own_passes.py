"""Fusions that a program adds to Inductor's, as vLLM does: which matched, and which did not."""

from pathlib import Path

import pytest

from inspect_compile.commands import main
from tests.running import inspected

PROGRAM = """
import torch
from torch._inductor.custom_graph_pass import CustomGraphPass
from torch._inductor.pattern_matcher import PatternMatcherPass, fwd_only, register_replacement

def add(function, matcher):
    def pattern(x, y):
        return function(x) * y
    def replacement(x, y):
        return function(x * y)
    register_replacement(pattern, replacement, [torch.empty(4, 4), torch.empty(4, 4)], fwd_only, matcher)

class Manager(CustomGraphPass):
    def __init__(self):
        self.passes = []
        for name, function in (("relu_mul_fusion", torch.relu), ("cos_mul_fusion", torch.cos)):
            matcher = PatternMatcherPass(pass_name=name)
            add(function, matcher)
            self.passes.append(matcher)

    def __call__(self, graph):
        for matcher in self.passes:
            matcher.apply(graph)

    def uuid(self):
        return "mine"

torch._inductor.config.post_grad_custom_post_pass = Manager()

@torch.compile
def f(x, y):
    return torch.relu(x) * y

f(torch.ones(4, 4), torch.ones(4, 4))
"""


def test_a_fusion_that_found_nothing_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "script.py").write_text(PROGRAM)
    result = inspected(["script.py"], tmp_path, options=["--level", "facts"])
    assert result.returncode == 0, result.stderr
    main(["show", str(tmp_path / "dump"), "passes"])
    shown = [" ".join(line.split()) for line in capsys.readouterr().out.splitlines()]
    assert "passes of the program's own that changed nothing: cos_mul_fusion" in shown
    assert any(line.startswith("relu_mul_fusion") for line in shown)
