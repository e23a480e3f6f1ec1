"""Calls for which torch checks no guards are counted, and the program does not notice: it counts them itself."""

from pathlib import Path

import pytest

from inspect_compile.analysis.overview.summary import summarize_run
from inspect_compile.dump import Dump
from inspect_compile.facts import GuardedCalls
from inspect_compile.tables.overview.run_text import eager_calls_text
from tests.conftest import run_once
from tests.running import inspected, plain

COUNTED = """
import collections
import torch

EAGER = collections.Counter()
torch._dynamo.config.suppress_errors = True


def refuses(graph, example_inputs):
    raise RuntimeError("refused")


def failing(x):
    if not torch.compiler.is_compiling():
        EAGER["failing"] += 1
    return x * 2


class Whole(torch.nn.Module):
    def forward(self, x):
        if not torch.compiler.is_compiling():
            EAGER["Whole"] += 1
        return x * 3


class Asked(torch.nn.Module):
    @torch.compiler.disable
    def helper(self, x):
        EAGER["helper"] += 1
        return x + 1

    def forward(self, x):
        return self.helper(x * 2) * 3


def limited(x, word):
    if not torch.compiler.is_compiling():
        EAGER["limited"] += 1
    return x * 2 if word else x


def again(x):
    if not torch.compiler.is_compiling():
        EAGER["again"] += 1
    return x - 1


def fine(x):
    return x + 4


def calls(function, count, backend="eager"):
    code = torch.compile(function, backend=backend)
    for _ in range(count):
        code(torch.ones(4))


calls(failing, 7, refuses)
calls(failing, 3, refuses)
calls(Whole(), 5, refuses)
calls(Asked(), 6)
calls(fine, 20)
code = torch.compile(limited, backend="eager")
for number in range(12):
    code(torch.ones(4), "a" * (number + 1))
refused = torch.compile(again, backend=refuses)
for _ in range(4):
    refused(torch.ones(4))
torch._dynamo.reset()
for _ in range(5):
    refused(torch.ones(4))
print(*(EAGER[name] for name in ("failing", "Whole", "helper", "limited", "again")))
"""


@pytest.fixture(scope="module")
def place(shared_folder: Path) -> Path:
    folder = shared_folder / "unguarded"

    def run(folder: Path):  # type: ignore[no-untyped-def]
        (folder / "script.py").write_text(COUNTED)
        return inspected(["script.py"], folder)

    done = run_once(folder, run)
    assert done.returncode == 0, done.stderr
    (folder / "counted").write_text(done.stdout)
    return folder


def test_calls_that_ran_eagerly_are_as_many_as_the_program_counted(place: Path) -> None:
    failing, whole, helper, limited, again = map(int, (place / "counted").read_text().split())
    told = summarize_run(Dump(place / "dump"))

    assert (failing, whole, helper, limited, again) == (10, 5, 6, 4, 9)
    # The call in which a function is skipped is its first: one of each, and of `again` one more after reset().
    skipped = failing - 1 + whole - 1 + again - 2
    assert told.eager_calls_why == {"limit": limited, "skipped": skipped, "disabled": helper}
    assert told.eager_calls == limited + skipped + helper


def test_the_overview_says_what_share_of_the_counted_calls_that_is(place: Path) -> None:
    dump = Dump(place / "dump")
    (row,) = dump.rows(GuardedCalls)
    told = summarize_run(dump)

    # `fine`, and what is before and behind the graph break of `Asked`, but for the first call of each; eight compiles.
    assert row.fitted == 19 + 2 * 5
    assert told.checked_calls == row.checked + row.skipped + row.disabled == row.fitted + 11 + 20 + 6
    assert eager_calls_text(told).endswith(", 30 of 66 later calls (45%: 4 limit, 20 skipped, 6 disabled)")


UNNOTICED = """
import copy
import gc
import pickle
import sys
import torch
from torch._dynamo.eval_frame import DisableContext


@torch.compiler.disable
def deep(left):
    try:
        return deep(left + 1)
    except RecursionError:
        return left


def context(function):
    return next(cell.cell_contents for cell in function.__closure__ if isinstance(cell.cell_contents, DisableContext))


def frames():
    found, frame = [], sys._getframe()
    while frame is not None:
        found.append(frame.f_code.co_qualname)
        frame = frame.f_back
    return found


disabled = torch.compiler.disable(frames)
deep(0)
print(deep(0), disabled())
of = context(disabled)
print(type(of), of.callback, isinstance(of, DisableContext), type(pickle.loads(pickle.dumps(of))) is DisableContext)
model = torch.compile(torch.nn.Linear(3, 3), backend="eager")
other = copy.deepcopy(model)
print(torch.equal(model(torch.ones(2, 3)), other(torch.ones(2, 3))))
print(pickle.loads(pickle.dumps(model.dynamo_ctx)).__class__.__name__)
with torch.compiler.set_stance("force_eager"):
    print(torch.compile(lambda x: x + 1)(torch.zeros(1)))
@torch.compile(backend="eager")
def making(x):
    return torch.compiler.disable(lambda y: y + 1)(x) * 2
print(making(torch.ones(2)))
print(sys.getrefcount(frames))
"""


def test_the_program_does_not_notice(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(UNNOTICED)
    alone = plain(["script.py"], tmp_path)
    watched = inspected(["script.py"], tmp_path)

    assert alone.returncode == 0, alone.stderr
    assert (watched.returncode, watched.stdout) == (0, alone.stdout)


COPIED = """
import copy
import pickle

import torch

disabled = torch.compiler.disable(torch.nn.Linear(2, 2), reason="not this one")
for copied in (copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))):
    context = copied(disabled.dynamo_ctx)
    print(type(context).__name__, sorted(vars(context)), context.callback, context.msg, type(copied(disabled)).__name__)
torch.compile(torch.sin)(torch.ones(2))
"""


def test_a_disabled_module_is_copied_and_pickled_as_it_is_alone(tmp_path: Path) -> None:
    script = tmp_path / "copied.py"
    script.write_text(COPIED)
    assert inspected([script], tmp_path).stdout == plain([script], tmp_path).stdout


UNCOUNTED = """
import torch


def inner(x):
    for _ in range(2):
        torch._dynamo.graph_break()
        x = x + 1
    return x


@torch.compiler.disable(recursive=False)
def alone(x):
    return x * 5


@torch.compiler.disable
def disabled(x):
    return x * 7


def outer(x):
    return disabled(alone(inner(x * 2) * 3))


code = torch.compile(outer, backend="eager")
for _ in range(4):
    code(torch.ones(4))
"""


def test_functions_of_whose_calls_nothing_tells_are_said_to_be_left_out(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(UNCOUNTED)
    done = inspected(["script.py"], tmp_path)
    assert done.returncode == 0, done.stderr

    told = summarize_run(Dump(tmp_path / "dump"))

    assert told.eager_calls_why == {"disabled": 4}
    assert told.uncounted_functions == 2
    assert eager_calls_text(told).endswith(", calls of 2 functions not counted")
