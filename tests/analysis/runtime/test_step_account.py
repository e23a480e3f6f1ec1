"""The account of a step, on recorded profiles: its parts add up to the step, and say what others count.

data/h200_policy: torch 2.11, H200, a recurrent policy whose compiled function is called 12 times and ends in `.item()`.
data/cpu_*: torch 2.13, one thread; three steps of AdamW with two micro-batches of a DataLoader each and a graph break
at `.item()`, without and with stacks (only those of the program are kept); three calls of the same without gradients.
"""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from inspect_compile.analysis.runtime.step_account import Account, step_account
from inspect_compile.analysis.runtime.step_bound import step_bounds, step_parts
from inspect_compile.analysis.runtime.time_slices import Slice, disjoint, gaps, within
from inspect_compile.knowledge.cost import step_kinds as kinds
from inspect_compile.profiles import Profile, Span
from inspect_compile.profiles.chrome import read
from tests.profiles import recordings

DATA = Path(__file__).parent / "data"


def trace(name: str) -> Path:
    own = DATA / f"{name}.json.gz"
    return own if own.exists() else recordings.trace_of(name)


def account_of(name: str, given: str | None = None) -> Account:
    found = step_account(read(trace(name)), given=given)
    assert found is not None
    return found


def events(name: str, *categories: str) -> list[dict[str, Any]]:
    every = json.loads(gzip.decompress(trace(name).read_bytes()))["traceEvents"]
    own = [event for event in every if event["ph"] == "X" and event.get("cat") in categories]
    return sorted(own, key=lambda event: float(event["ts"]))


def by_kind(account: Account) -> dict[str, float]:
    return {part.kind: part.seconds * 1e6 for part in step_parts(account.step, account.rows)}


ALL = ("h200_policy", "cpu_training", "cpu_training_stacks", "cpu_inference", *recordings.NAMES)


@pytest.mark.parametrize("name", ALL)
def test_the_parts_are_the_whole_step(name: str) -> None:
    account = account_of(name)

    assert sum(row.seconds for row in account.rows) == pytest.approx(account.step.seconds, rel=1e-6)
    assert all(row.seconds >= 0 and row.hidden >= 0 and row.after >= 0 for row in account.rows)
    assert sum(bound.share for bound in step_bounds(*account)) == pytest.approx(1)
    assert {row.kind for row in account.rows} <= kinds.KINDS.keys()


def test_a_gpu_that_waits_for_the_host() -> None:
    account = account_of("h200_policy")

    step = account.step
    assert (step.by, step.steps, step.device) == ("Torch-Compiled Region: 0/0", 11, "NVIDIA H200")
    first = step_bounds(*account)[0]
    assert first.bound == kinds.LAUNCH_OVERHEAD
    assert 0.9 < first.share < 0.96
    # All kernels and copies of the last 11 calls: those after the end of the first.
    end = float(events("h200_policy", "cpu_op")[1]["ts"]) + events("h200_policy", "cpu_op")[1]["dur"]
    ran = [one for one in events("h200_policy", "kernel", "gpu_memcpy", "gpu_memset") if float(one["ts"]) > end]
    assert step.busy * 1e6 == pytest.approx(sum(one["dur"] for one in ran) / 11, rel=0.01)
    waits = [row for row in account.rows if row.kind == kinds.SYNCHRONISATION and row.is_idle]
    assert [(row.what, row.count, row.region) for row in waits] == [("aten::item", 1, "0/0")]
    assert waits[0].after > 5 * waits[0].seconds, (
        "until the next call has launched something, the GPU has nothing to do"
    )


def test_kernels_of_replayed_cuda_graphs_leave_no_idle_time() -> None:
    account = account_of("reduce_overhead")

    assert account.step.steps == 2
    assert account.step.busy > 0.95 * account.step.seconds
    assert by_kind(account)[kinds.LIBRARY] > 0.9 * account.step.seconds * 1e6


def test_communication_that_is_hidden_and_that_is_not() -> None:
    account = account_of("ddp")

    assert (account.step.by, account.step.steps) == ("Optimizer.step#SGD.step", 1)
    own = [row for row in account.rows if row.kind == kinds.COLLECTIVE and not row.is_idle]
    ran = [one["dur"] for one in events("ddp", "kernel") if "nccl" in one["name"]][-6:]  # of the second step
    assert sum(row.seconds + row.hidden for row in own) * 1e6 == pytest.approx(sum(ran), rel=0.001)
    assert all(row.hidden > 0 for row in own)
    assert "optimizer" in by_kind(account)


def test_on_a_cpu_the_main_threads_time_is_counted() -> None:
    account, found = account_of("cpu_training"), by_kind(account_of("cpu_training"))

    assert (account.step.by, account.step.steps, account.step.device) == ("Optimizer.step#AdamW.step", 2, "")
    marked = events("cpu_training", "user_annotation")
    ends = [float(one["ts"]) + one["dur"] for one in marked if "Optimizer.step" in one["name"]]

    def of(word: str) -> float:
        own = [one for one in marked if word in one["name"] and ends[0] - 1 < float(one["ts"]) < ends[-1]]
        return sum(float(one["dur"]) for one in own) / 2

    assert found[kinds.OPTIMIZER] == pytest.approx(of("Optimizer."), rel=0.001)
    assert found[kinds.INPUT] == pytest.approx(of("DataLoader"), rel=0.001)
    assert {row.what for row in account.rows if row.kind == kinds.LIBRARY} == {
        "aten::mm",
        "aten::addmm",
        "aten::randint",
    }


def test_a_function_of_the_program_can_be_the_step() -> None:
    account = account_of("cpu_training_stacks", "train.py:24")

    assert (account.step.by, account.step.steps) == ("train.py:24", 2)
    eager = [row for row in account.rows if row.kind == kinds.EAGER and row.what == "aten::cross_entropy_loss"]
    assert [row.where for row in eager] == ["train.py(19): step"]
    assert step_account(read(trace("cpu_training_stacks")), given="train.py:2").step.by == ""  # type: ignore[union-attr]


def test_the_compiled_call_that_repeats_is_a_step() -> None:
    account = account_of("cpu_inference")

    assert (account.step.by, account.step.steps) == ("Torch-Compiled Region: 0/0", 2)


def test_two_optimizers_of_one_class_take_one_step_together() -> None:
    """As of a generator and a discriminator: a step ends where what the program does comes again."""
    names = ("Torch-Compiled Region: 0/0", "Torch-Compiled Region: 1/0", "Optimizer.step#Adam.step") * 2
    each = (*names, "Torch-Compiled Region: 1/0", "Optimizer.step#Adam.step")
    spans = [
        Span(name, 100.0 * step + 10 * index, 100.0 * step + 10 * index + 8, 0)
        for step in range(4)
        for index, name in enumerate(each)
    ]
    account = step_account(Profile("torch.profiler", [], spans, []))

    assert account is not None
    assert (account.step.by, account.step.steps) == ("Optimizer.step#Adam.step", 3)
    assert account.step.seconds == pytest.approx(100e-6)


def test_what_a_profile_without_operators_does_not_tell_is_a_row(tmp_path: Path) -> None:
    kernels = recordings.changed(
        "inference", tmp_path / "t.json", lambda one: one if one.get("cat") == "kernel" else None
    )
    account = step_account(read(kernels))

    assert account is not None
    assert account.step.by == ""
    assert {row.kind for row in account.rows} == {kinds.NOT_KNOWN, kinds.WAITING}


def test_slices() -> None:
    own = disjoint([Slice(0, 4, "a"), Slice(2, 6, "b"), Slice(3, 5, "c"), Slice(9, 10, "d")])

    assert own == [(0, 4, "a"), (4, 6, "b"), (9, 10, "d")]
    assert gaps(own, -1, 12) == [(-1, 0), (6, 9), (10, 12)]
    assert within(own, [(1, 5), (9.5, 20)]) == [(1, 4, "a"), (4, 5, "b"), (9.5, 10, "d")]
