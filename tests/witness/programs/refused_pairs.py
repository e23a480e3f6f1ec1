"""Each pair that is refused for want of shared data: torch's reason, and ours. Nothing is compiled to its end."""

import json
import runpy
import sys

import msgspec
import torch
import torch._dynamo
import torch._inductor.choices
import torch._inductor.config
import torch._inductor.scheduler as scheduling
from torch._inductor.virtualized import V

from inspect_compile.graph.indexing.difference import differences
from inspect_compile.lowering.fusion.fusion_numbers import fail_reason
from inspect_compile.lowering.schedule.schedule import access

told = open(sys.argv[1], "w")
name = ""
alike = {}
asked = torch._inductor.choices.InductorChoices.can_fuse


def can_fuse(scheduler, a, b, score):
    answer = asked(scheduler, a, b, score)
    if not answer and score == 0:
        ones, others = ([access(dep, {}) for dep in node.read_writes.reads_and_writes()] for node in (a, b))
        found = [
            {**msgspec.to_builtins(found), "times": _times(ones, found.buffer) * _times(others, found.buffer)}
            for found in differences(ones, others)
        ]
        before = len(V.graph.sizevars.shape_env.guards)
        words = fail_reason(scheduler, a, b, alike)
        guards = len(V.graph.sizevars.shape_env.guards) - before
        told.write(json.dumps({"name": name, "torch": words, "ours": found, "guards": guards}) + "\n")
    return answer


def _times(accesses, buffer):
    return sum(one.buffer == buffer for one in accesses)


def codegen(self, *args, **kwargs):
    told.flush()
    raise NotImplementedError("seen enough")


def transpose(x):
    return x.relu(), x.relu().t().sum(1)


def slices(x):
    y = x @ x
    return y[:, :16].sin(), y[:, 16:].cos()


def repeated(x):
    y = x @ x[0]
    return y.cos(), x + y


def part(x):
    return x[:8].sin(), x.cos()


def rolled(x):
    y = x.cumsum(0)
    return y.cos(), torch.roll(y, 3, 0).sin(), y.reshape(-1)[5:].sin()


def reshaped(x):
    y = x @ x
    return y.view(4, 8, 32).permute(1, 0, 2).reshape(32, 32).relu(), y.relu()


def symbolic(x):
    return x[:, :16].sin(), x[:, 16:32].cos(), x.t().relu() + 1, x.sum(0)


torch._inductor.choices.InductorChoices.can_fuse = staticmethod(can_fuse)
scheduling.Scheduler.codegen = codegen
torch._dynamo.config.suppress_errors = True
torch._inductor.config.force_disable_caches = True
torch._inductor.config.compile_threads = 1
programs = (transpose, slices, repeated, part, rolled, reshaped, symbolic)
for program in () if len(sys.argv) > 2 else programs:
    name = program.__name__
    torch.compile(program, dynamic=program is symbolic)(torch.randn(32, 32))
for name in sys.argv[2:]:
    sys.argv = [name]
    runpy.run_path(name, run_name="__main__")
told.close()
