"""Findings about a step of the program, from the account that a profile gives, and from facts written down here."""

from pathlib import Path

import msgspec
import pytest

from inspect_compile.analysis.findings.every import findings, findings_of_account
from inspect_compile.analysis.findings.finding import Finding
from inspect_compile.analysis.overview.looked_for import looked_for
from inspect_compile.analysis.runtime.attribution import attribute
from inspect_compile.analysis.runtime.step_account import Account, step_account
from inspect_compile.analysis.runtime.step_of_dump import account_of, recorded_account, timed_account
from inspect_compile.dump import Dump, paths
from inspect_compile.facts import (
    CudaGraph,
    Fact,
    Frame,
    GraphBreak,
    Location,
    Run,
    StepAccount,
    StepsProfiled,
    StepTime,
    Tensor,
)
from inspect_compile.graph import Graphs
from inspect_compile.knowledge.cost import step_kinds as kinds
from inspect_compile.knowledge.tuning import Program, candidates
from inspect_compile.profiles import GpuRun, HostCall, Profile, Span
from inspect_compile.profiles.chrome import read
from inspect_compile.tables.overview.findings import cost_text, sure_text
from tests.handmade import ended, graph, kernel, line, lowered, made, node, operation

DATA = Path(__file__).resolve().parents[1] / "runtime" / "data"
GPU = Run(status="finished", argv=("net.py",), device="cuda (NVIDIA H200, sm_90)")
GPU_PROGRAM = Program(is_cuda=True, threads=8, compiles=(), optimizers=())
ITEM = Location("policy.py", 61, "forward", "if float(value.mean()) > 1e6:")
BREAK = GraphBreak(graph="0/0", reason="Tensor.item()", explanation="Tensor.item() is not traced", where=ITEM)
CALL = Frame(
    graph="0/0", function="forward", file="policy.py", line=50, status="compiled", caller=Location("policy.py", 88)
)


def step(seconds: float, *rows: StepTime, device: str = "NVIDIA H200") -> tuple[Fact, ...]:
    busy = sum(row.seconds for row in rows if not row.is_idle)
    whole = StepAccount(
        by="Optimizer.step#A", steps=20, seconds=seconds, least=seconds, most=seconds, device=device, busy=busy
    )
    return (whole, *rows)


def of_kind(root: Path, kind: str, *facts: Fact) -> list[Finding]:
    return [row for row in findings(Graphs(made(root, *facts, run=GPU))) if row.kind == kind]


def test_launches_and_the_wait_of_a_policy_stand_before_its_graph_break(tmp_path: Path) -> None:
    dump = made(tmp_path, BREAK, CALL, run=GPU)
    profile = read(DATA / "h200_policy.json.gz")
    account = account_of(dump, profile, attribute(dump, profile), None)
    assert account is not None

    first, second = findings_of_account(dump, account)

    assert (first.kind, first.parts[0].where) == ("launch-bound", CALL.caller)
    assert 'mode="reduce-overhead"' in first.to_do
    assert first.share is not None
    assert 0.7 < first.share < 0.9
    assert cost_text(first) == "≤ 1.25 ms a step (80 %)"
    assert sure_text(first) == "measured: the mean of 11 profiled steps"
    assert (second.kind, second.parts[0].where) == ("synchronisation", ITEM)

    recorded = made(tmp_path / "recorded", BREAK, CALL, account.step, *account.rows, run=GPU)
    assert [row.kind for row in findings(Graphs(recorded))] == ["launch-bound", "synchronisation", "graph-break"]


def test_launches_are_no_finding_where_cuda_graphs_run_and_say_what_keeps_them_off(tmp_path: Path) -> None:
    waits = step(1e-3, StepTime(kind=kinds.WAITING, what=kinds.LAUNCH, seconds=8e-4, is_idle=True))
    replayed = CudaGraph(number=0, driver="cudagraph trees", replayed=9, recorded=1)
    skipped = CudaGraph(number=-1, skipped="mutated inputs (2 instances)")

    assert of_kind(tmp_path / "on", "launch-bound", *waits, replayed) == []
    (off,) = of_kind(tmp_path / "off", "launch-bound", *waits, skipped)
    assert "mutated inputs (2 instances)" in off.to_do


@pytest.mark.parametrize(
    ("name", "operator", "is_found"),
    [
        ("AdamW", "aten::_foreach_add_", True),
        ("AdamW", "aten::mul_", True),
        ("AdamW", "aten::_fused_adamw_", False),
        ("LBFGS", "aten::mul_", False),
    ],
)
def test_an_optimizer_that_is_not_fused(tmp_path: Path, name: str, operator: str, is_found: bool) -> None:
    rows = step(
        1e-3,
        StepTime(kind=kinds.OPTIMIZER, what=operator, seconds=3e-4, count=12),
        StepTime(kind=kinds.OPTIMIZER, what=f"{name}.step", seconds=1e-4, is_idle=True),
        StepTime(kind=kinds.OPTIMIZER, what=f"{name}.zero_grad", seconds=1e-4, is_idle=True),
        StepTime(kind=kinds.COMPILED, what="triton_poi_0", seconds=5e-4, count=3),
    )

    found = of_kind(tmp_path, "optimizer", *rows)

    assert bool(found) == is_found
    if found:
        assert found[0].seconds == pytest.approx(4e-4), "without zero_grad"
        assert found[0].to_do.startswith("AdamW(…, fused=True)")
        assert found[0].is_bound


def test_what_an_optimizer_waits_for_is_a_part_of_its_cost(tmp_path: Path) -> None:
    """One that is not fused reads its count of steps from the GPU, tensor by tensor."""
    rows = step(
        1e-3,
        StepTime(kind=kinds.OPTIMIZER, what="AdamW.step", seconds=2e-4, count=1, is_idle=True),
        StepTime(kind=kinds.OPTIMIZER, what="aten::mul_", seconds=1e-4, count=60),
        StepTime(kind=kinds.SYNCHRONISATION, what="aten::item", where=kinds.IN_OPTIMIZER, seconds=1e-4, count=30),
        StepTime(
            kind=kinds.SYNCHRONISATION, what="cudaEventSynchronize", seconds=5e-5, waited=9e-5, count=1, is_idle=True
        ),
    )
    found = [row for row in findings(Graphs(made(tmp_path, *rows, run=GPU))) if row.share is not None]
    assert [row.kind for row in found] == ["optimizer", "synchronisation"]
    assert [row.seconds for row in found] == pytest.approx([4e-4, 5e-5])
    assert found[1].to_do.startswith("remove the synchronize()")


def test_a_wait_costs_no_more_than_the_host_spends_in_it_unless_a_graph_break_goes_with_it(tmp_path: Path) -> None:
    """Behind the wait the GPU is idle as long as the host takes for the next launch, which it would take anyway."""
    wait = StepTime(
        kind=kinds.SYNCHRONISATION, what="aten::item", seconds=3e-5, waited=4e-5, after=3e-4, count=1, is_idle=True
    )
    (outside,) = of_kind(tmp_path / "outside", "synchronisation", *step(1e-3, wait))
    broken = msgspec.structs.replace(wait, region="0/0", line=ITEM)
    (inside,) = of_kind(tmp_path / "inside", "synchronisation", *step(1e-3, broken), BREAK)
    assert (outside.seconds, inside.seconds) == pytest.approx((4e-5, 3.3e-4))
    assert inside.parts[0].where == ITEM


def test_copies_that_no_kernel_hides_are_told_with_what_helps(tmp_path: Path) -> None:
    sent = Location("train.py", 12, "step", "x = x.to(device)")
    back = Location("train.py", 30, "step", "losses.append(loss.cpu())")
    rows = step(
        1e-2,
        StepTime(kind=kinds.COPIES, what="Memcpy HtoD (Pageable -> Device)", seconds=6e-3, count=1, line=sent),
        StepTime(kind=kinds.SYNCHRONISATION, what="aten::to", seconds=1e-3, waited=6e-3, is_idle=True, line=sent),
        StepTime(kind=kinds.COPIES, what="Memcpy HtoD (Pinned -> Device)", seconds=1e-3, count=2, line=back),
        StepTime(kind=kinds.COPIES, what="Memcpy DtoH (Device -> Pageable)", seconds=5e-4, count=1, line=back),
        StepTime(kind=kinds.COPIES, what="Memcpy HtoD (Pageable -> Device)", seconds=1e-5, count=1, line=back),
    )
    found = [row for row in findings(Graphs(made(tmp_path, *rows, run=GPU))) if row.share is not None]
    assert [(row.kind, row.parts[0].where) for row in found] == [
        ("transfer", sent),
        ("transfer", back),
        ("transfer", back),
    ]
    assert [row.seconds for row in found] == pytest.approx([7e-3, 1e-3, 5e-4])
    assert ["pin_memory=True" in row.to_do for row in found] == [True, False, False]
    assert "a separate stream" in found[1].to_do
    assert "keep them on the GPU" in found[2].to_do


def test_operators_outside_of_graphs_are_told_function_by_function(tmp_path: Path) -> None:
    loop = Location("train.py", 8, "average", "old.mul_(0.999).add_(new, alpha=0.001)")
    loss = Location("train.py", 20, "step", "loss = cross_entropy(y, t)")
    hits = Location("train.py", 21, "step", "hits = (y.argmax(-1) == t).sum()")
    cut = Location("net.py", 5, "forward", "print(x.sum())")
    eager = [
        StepTime(kind=kinds.EAGER, what="aten::mul_", seconds=2e-3, count=76, line=loop),
        StepTime(kind=kinds.EAGER, what="aten::add_", seconds=1e-3, count=76, line=loop),
        StepTime(kind=kinds.EAGER, what="aten::add_", seconds=1e-3, is_idle=True, line=loop),
        StepTime(kind=kinds.EAGER, what="aten::eq", seconds=4e-4, count=1, line=hits),
        StepTime(kind=kinds.EAGER, what="aten::nll_loss", seconds=6e-4, count=2, line=loss),
        StepTime(kind=kinds.EAGER, what="aten::sum", seconds=3e-4, count=1, line=cut, region="0/0"),
        StepTime(kind=kinds.EAGER, what="aten::abs", seconds=1e-5, count=1, line=Location("log.py", 2, "log")),
        StepTime(kind=kinds.EAGER, what="aten::detach", seconds=5e-4, count=1),
    ]
    found = of_kind(tmp_path, "eager", *step(1e-2, *eager))
    assert [row.parts[0].where for row in found] == [loop, loss, cut]
    assert [row.seconds for row in found] == pytest.approx([4e-3, 1e-3, 3e-4])
    assert ["_foreach_" in row.to_do for row in found] == [True, False, False]
    assert found[0].why == "this line, in a step: 76 aten::mul_, 76 aten::add_; the GPU is idle for 25% of that time"
    assert found[1].why.startswith("this line and 1 more of the function, in a step: 2 aten::nll_loss, 1 aten::eq")
    assert found[2].to_do.startswith("fix the graph break")


def test_the_optimizer_of_a_program_on_the_cpu_is_found_in_its_profile(tmp_path: Path) -> None:
    dump = made(tmp_path, run=Run(status="finished", argv=("train.py",), device="cpu"))
    account = step_account(read(DATA / "cpu_training.json.gz"))
    assert account is not None

    first = findings_of_account(dump, account)[0]

    assert (first.kind, first.names) == ("optimizer", ("AdamW.step",))
    assert "on each tensor" in first.why


def test_float32_products_that_may_not_round_to_tf32(tmp_path: Path) -> None:
    """80 TFLOP take 1.19 s at 67 TFLOP/s, and 0.16 s at 495."""
    facts = (
        node("x"),
        node("mm", "aten.mm.default", inputs=("x",)),
        lowered("mm", "aten.mm.default", flops=80 * 10**12, flops_kind="matmul"),
        operation("op0", reads={"x": 3000}, writes={"buf0": 1000}, kind="extern", nodes=("mm",)),
        kernel("extern_kernels.mm", "op0", kind="extern", nodes=("mm",), launches=(101,)),
        line(0, "allocate", buffer="buf0"),
        line(1, "extern", kernel="extern_kernels.mm", buffer="buf0"),
        ended(),
    )
    step_rows = step(
        2.0,
        StepTime(kind=kinds.LIBRARY, what="aten::mm", seconds=1.5, count=1),
        StepTime(kind=kinds.COMPILED, what="triton_poi_0", seconds=0.5, count=1),
    )

    (estimated,) = of_kind(tmp_path / "exact", "matmul-precision", graph(tf32=False), *facts)
    assert estimated.seconds == pytest.approx(80 / 67 - 80 / 494.7)
    assert sure_text(estimated) == "estimated: the least time by the roofline, without and with it"
    (measured,) = of_kind(tmp_path / "step", "matmul-precision", graph(tf32=False), *facts, *step_rows)
    assert measured.seconds == pytest.approx(1.5 * (1 - 67 / 494.7))
    assert measured.share == pytest.approx(0.75 * (1 - 67 / 494.7))
    assert of_kind(tmp_path / "rounds", "matmul-precision", graph(tf32=True), *facts) == []

    (half,) = of_kind(tmp_path / "half", "half-precision", graph(tf32=False), *facts)
    assert half.seconds == pytest.approx(80 / 67 - 80 / 989.4, rel=1e-3)
    (half,) = of_kind(tmp_path / "half step", "half-precision", graph(tf32=False), *facts, *step_rows)
    assert half.share == pytest.approx(0.75 * (1 - 67 / 989.4), rel=1e-3)
    assert (
        findings(Graphs(made(tmp_path / "last", graph(tf32=False), *facts, *step_rows, run=GPU)))[-1].kind == half.kind
    )
    (half,) = of_kind(tmp_path / "half rounds", "half-precision", graph(tf32=True), *facts)
    assert half.seconds == pytest.approx(80 / 494.7 - 80 / 989.4, rel=1e-3)


def test_no_product_makes_a_step_shorter_than_what_the_host_needs_for_it(tmp_path: Path) -> None:
    products = (
        node("mm", "aten.mm.default"),
        lowered("mm", "aten.mm.default", flops=80 * 10**12, flops_kind="matmul"),
        operation("op0", reads={"x": 3000}, writes={"buf0": 1000}, kind="extern", nodes=("mm",)),
        kernel("extern_kernels.mm", "op0", kind="extern", nodes=("mm",), launches=(101,)),
        line(0, "allocate", buffer="buf0"),
        line(1, "extern", kernel="extern_kernels.mm", buffer="buf0"),
        ended(),
    )
    whole, *rows = step(2.0, StepTime(kind=kinds.LIBRARY, what="aten::mm", seconds=1.9, count=1))
    whole = msgspec.structs.replace(whole, host=1.4)

    for kind in ("matmul-precision", "half-precision"):
        (found,) = of_kind(tmp_path / kind, kind, graph(tf32=False), *products, whole, *rows)
        assert (found.seconds, found.share) == pytest.approx((0.6, 0.3))
        assert found.why.endswith("the host alone takes 1.4e+03 ms of a step")


@pytest.mark.parametrize(("profiled_seconds", "calls", "steps"), [(0.012, 12, 4), (0.016, 12, 4), (0.016, 25, 2)])
def test_how_many_calls_a_step_has_is_known_where_the_program_had_to_wait_for_a_processor(
    profiled_seconds: float, calls: int, steps: int
) -> None:
    timed = StepsProfiled(
        calls=4, seconds=4e-3, each=(1e-3,) * 4, profiled_calls=calls, profiled_seconds=profiled_seconds
    )
    row = StepTime(kind=kinds.LIBRARY, what="aten::mm", seconds=1e-3, count=1)
    whole = StepAccount(by="Optimizer.step#A", steps=11, seconds=1e-3, least=1e-3, most=1e-3)
    found = timed_account(Account(whole, [row]), timed)
    assert found.step.plain_steps == steps


@pytest.mark.parametrize(("waited", "host"), [(0.0, 7e-4), (1e-4, None)])
def test_the_hosts_own_time_is_known_where_it_waits_for_nothing(
    tmp_path: Path, waited: float, host: float | None
) -> None:
    each = (9e-4, 7e-4, 8e-4, 3e-3)
    timed = StepsProfiled(calls=4, seconds=5.4e-3, each=each, profiled_calls=11, profiled_seconds=0.0173)
    profile = Profile("torch.profiler", [], [], [], device="NVIDIA H200")
    for call in range(12):
        begin = 1573.0 * call
        profile.spans.append(Span("Torch-Compiled Region: 0/0", begin, begin + 500, 0, external=call))
        profile.calls.append(HostCall("cudaLaunchKernel", begin + 10, 0, call, 5.0))
        profile.runs.append(GpuRun(call, "kernel", "triton_poi_0", begin + 20, 1200.0, correlation=call))
        profile.waits.append(Span("cudaStreamSynchronize", begin + 600, begin + 600 + waited * 1e6, 0))
    found = step_account(profile)
    assert found is not None
    assert timed_account(found, timed).step.host == host


def test_kernels_in_float64_are_told_what_half_the_bytes_save(tmp_path: Path) -> None:
    """4.8 GB take 1 ms at 4.8 TB/s."""
    wide = (Tensor("float64", (4,), (1,), "cuda:0", 32),)
    facts = (
        graph(),
        node("x", values=wide),
        node("mm", "aten.mm.default", inputs=("x",), values=wide),
        lowered("mm", "aten.mm.default", flops=1000, flops_kind="matmul"),
        operation("op0", reads={"x": 32}, writes={"buf0": 4_800_000_000}, kind="extern", nodes=("mm",)),
        kernel("extern_kernels.mm", "op0", kind="extern", nodes=("mm",), launches=(101,)),
        line(0, "allocate", buffer="buf0"),
        line(1, "extern", kernel="extern_kernels.mm", buffer="buf0"),
        ended(),
    )
    (found,) = of_kind(tmp_path / "alone", "float64", *facts)
    assert found.seconds == pytest.approx(0.5e-3, rel=1e-3)
    rows = step(4e-3, StepTime(kind=kinds.LIBRARY, what="aten::mm", seconds=3e-3, count=1))
    every = findings(Graphs(made(tmp_path / "step", *facts, *rows, run=GPU)))
    assert every[-1].kind == "float64"
    assert every[-1].share == pytest.approx(0.375, rel=1e-3)


def test_what_a_library_turns_around_for_a_convolution_is_found_with_a_setting(tmp_path: Path) -> None:
    """What is launched for a call of cuDNN, by the names that an H200's profile has."""
    names = (
        "void cudnn::engines_precompiled::nchwToNhwcKernel<float>",
        "sm90_xmma_fprop_implicit_gemm",
        "triton_poi_0",
    )
    profile = Profile("torch.profiler", [], [], [], device="NVIDIA H200")
    for call in range(4):
        begin = 100.0 * call
        profile.spans.append(Span("## Call CompiledFxGraph f123 ##", begin, begin + 90, 0))
        for number, name in enumerate(names):
            at, own = begin + 10 + 20 * number, len(profile.runs) + 1
            operator = "triton_poi_0" if name.startswith("triton") else "aten::convolution"
            profile.spans.append(Span(operator, at, at + 8, 0, external=own))
            profile.calls.append(HostCall("cuLaunchKernel", at + 1, 0, own))
            profile.runs.append(GpuRun(own, "kernel", name, at + 2, 10.0, correlation=own, external=own))
    account = step_account(profile)
    assert account is not None
    (found,) = [row for row in findings_of_account(made(tmp_path, run=GPU), account) if row.kind == "layout-changes"]

    assert found.seconds == pytest.approx(account.step.seconds * (found.share or 0.0))
    turned = sum(row.seconds for row in account.rows if row.where == kinds.IN_ANOTHER_LAYOUT)
    assert found.seconds == pytest.approx(turned) == pytest.approx(40e-6)
    assert found.knob == "force_layout_optimization"
    assert [one.words for one in candidates(GPU_PROGRAM, [found.knob]) if found.knob in one.words] == [
        "torch._inductor.config.force_layout_optimization = True"
    ]


def test_kinds_that_need_a_profile_are_not_said_to_be_looked_for(tmp_path: Path) -> None:
    def missing(dump: Dump) -> set[str]:
        return {row.kind for row in looked_for(dump) if row.why_not}

    of_steps = {"launch-bound", "synchronisation", "optimizer", "input"}
    assert of_steps <= missing(made(tmp_path / "without", run=GPU))
    assert not of_steps & missing(made(tmp_path / "with", *step(1e-3), run=GPU))


@pytest.mark.parametrize("seconds", [0.0, -1.0, 1e300])
def test_an_account_that_only_damage_can_make_is_none(tmp_path: Path, seconds: float) -> None:
    dump = made(tmp_path, *step(seconds, StepTime(kind=kinds.INPUT, what="DataLoader", seconds=1.0, count=1e300)))

    assert recorded_account(dump) is None
    assert [row for row in findings(Graphs(dump)) if row.share is not None] == []


def test_a_recorded_step_is_told_as_it_is_without_the_profiler(tmp_path: Path) -> None:
    """The profile's steps take 1.57 ms each, of which the GPU is busy 67 µs: alone they take 0.8 ms."""
    timed = StepsProfiled(calls=8, seconds=6.4e-3, each=(8e-4,) * 8, profiled_calls=11, profiled_seconds=0.0173)
    dump = made(tmp_path, BREAK, CALL, timed, run=GPU)
    (dump.root / paths.STEPS_TRACE).write_bytes((DATA / "h200_policy.json.gz").read_bytes())
    profiled = step_account(read(DATA / "h200_policy.json.gz"))
    account = recorded_account(dump)
    assert account is not None
    assert profiled is not None

    assert account.step.seconds == pytest.approx(8e-4)
    assert account.step.plain_steps == 8
    assert account.step.profiled_seconds == profiled.step.seconds
    assert sum(row.seconds for row in account.rows) == pytest.approx(8e-4)
    assert account.step.busy == profiled.step.busy
    assert [row.kind for row in findings(Graphs(dump))] == ["launch-bound", "synchronisation", "graph-break"]
    assert (findings(Graphs(dump))[0].seconds or 1.0) < 8e-4
