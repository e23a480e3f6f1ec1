"""Where a step of the program goes: what bounds it, and the parts that together are the step."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Final

from inspect_compile.analysis.compare.tried import tuned_of
from inspect_compile.analysis.dumps.nothing import text_or_nothing
from inspect_compile.analysis.runtime.host_activity import STEP
from inspect_compile.analysis.runtime.step_account import Account
from inspect_compile.analysis.runtime.step_bound import StepBound, StepPart, step_bounds, step_parts
from inspect_compile.analysis.runtime.step_of_dump import account_rows, recorded_account
from inspect_compile.facts import StepAccount, StepsProfiled, StepTime
from inspect_compile.knowledge.cost import step_kinds as kinds
from inspect_compile.knowledge.cost.operator_order import REGION
from inspect_compile.tables.columns import Column
from inspect_compile.tables.parts import DeclaredTable, Request, limited
from inspect_compile.tables.styled_text import Block, Stack, StyledLine, joined, styled
from inspect_compile.tables.text import bar_text, number_of, one_line, share_text, time_text

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

NOT_PROFILED: Final = (
    "no step was profiled: inspect-compile run --measure SCRIPT does, and inspect-compile attribute DUMP TRACE takes a "
    "profile of yours"
)
_MOST_DETAILS: Final = 3
_LEAST_SHARE: Final = 0.0005
"""Parts with less of the step are not shown."""


def _details(part: StepPart) -> str:
    shown = part.rows[:_MOST_DETAILS]
    words = [f"{_named(row)} {time_text(row.seconds)}" for row in shown if row.what]
    words += [f"{len(part.rows) - len(shown)} more"] if len(part.rows) > len(shown) else []
    if part.kind == kinds.OPTIMIZER and part.idle:
        words.insert(0, f"{time_text(part.idle)} of it with the GPU idle")
    if part.hidden:
        words.insert(0, f"{time_text(part.hidden)} more hidden by kernels")
    return ", ".join(words)


def _named(row: StepTime) -> str:
    return one_line(f"{row.what} {row.where}".strip())


PARTS: Final[tuple[Column[StepPart], ...]] = (
    Column("where a step goes", lambda row: row.kind, role="name"),
    Column("time", lambda row: time_text(row.seconds), right=True),
    Column("share", lambda row: share_text(row.share, 1), role="dim", right=True),
    Column("", lambda row: bar_text(row.share), role="accent", drop=2),
    Column("of it", _details, role="dim", stretch=True, least=20, most=120, drop=1),
)
ROWS: Final[tuple[Column[StepTime], ...]] = (
    Column("kind", lambda row: row.kind),
    Column("what", lambda row: one_line(row.what), role="name", stretch=True, least=24, most=70, middle=True),
    Column("where", lambda row: one_line(row.where), optional=True, stretch=True, least=12, most=40),
    Column("time", lambda row: time_text(row.seconds), right=True),
    Column("runs", lambda row: f"{row.count:.3g}" if row.count else "", right=True),
    Column("GPU", lambda row: "idle" if row.is_idle else "", optional=True, role="dim"),
    Column("bound by", lambda row: row.bound, optional=True, drop=1),
    Column("hidden", lambda row: time_text(row.hidden) if row.hidden else "", right=True, optional=True, drop=2),
)
"""The same in detail: each kernel, operator and occupation of the host."""


def step_text(step: StepAccount) -> str:
    """`3 steps of 2.9 ms (2.7 to 3.1 ms)`, and what one ends with."""
    if not step.by:
        return f"no step repeats: the whole profile, {time_text(step.seconds)}"
    spread = f" ({time_text(step.least)} to {time_text(step.most)})" if step.steps > 1 else ""
    mean = time_text(step.profiled_seconds or step.seconds)
    return f"{number_of(step.steps, 'step')} of {mean}{spread}, {ending_text(step.by)}"


def ending_text(by: str) -> str:
    """What a step ends with, in words."""
    if by.startswith(REGION):
        return f"each a call of the compiled function {one_line(by[len(REGION) :])}"
    if by.startswith(STEP):
        return f"each up to the end of {one_line(by[len(STEP) :])}"
    return (
        f"each a call of the function at {one_line(by)}" if ":" in by else "as the program marks them for the profiler"
    )


def bound_text(step: StepAccount, bounds: Sequence[StepBound]) -> str:
    """`Bound by launch overhead: …`, or what is not known of it."""
    first = next(iter(bounds), None)
    if first is None:
        return "Bound by: not known"
    share = share_text(first.share, 0)
    if first.bound == kinds.LAUNCH_OVERHEAD:
        waits = (
            f"the GPU is idle {share} of each step, waiting for the host" if step.device else f"{share} of each step"
        )
        return f"Bound by launch overhead: {waits}"
    if first.bound == kinds.SYNCHRONISATION:
        return f"Bound by synchronisation: the GPU is idle {share} of each step while the host reads results"
    if first.bound == kinds.NOT_KNOWN:
        known = ", ".join(f"{one.bound} {share_text(one.share, 0)}" for one in bounds[1:3])
        what = "kernels without a roofline" if step.device else "kernels, library calls, Python"
        return f"Bound by: not known for {share} of each step ({what}){f'; {known}' if known else ''}"
    return f"Bound by {first.bound}: {share} of each step"


def short_bound_text(bounds: Sequence[StepBound]) -> str:
    """The same in few words: `Bound by launch overhead, 68 %`."""
    first = next(iter(bounds), None)
    if first is None:
        return "Bound by: not known"
    share = share_text(first.share, 0)
    known = first.bound != kinds.NOT_KNOWN
    return f"Bound by {first.bound}, {share}" if known else f"Bound by: not known for {share}"


def step_heading(step: StepAccount, rows: Sequence[StepTime]) -> Iterator[StyledLine]:
    """What bounds the program, and the steps that this rests on."""
    yield styled(bound_text(step, step_bounds(step, rows)), "strong")
    if step.plain_seconds is not None:
        how = "mean" if step.device else "median"
        plain = f"{time_text(step.plain_seconds)} without the profiler ({how} of {step.plain_steps:,})"
        yield joined((f" A step takes {plain}; profiled: {step_text(step)}", "dim"))
    else:
        yield joined((f" {step_text(step)}; the profiler slows the host", "dim"))


def eager_text(dump: "Dump") -> str:
    """`tune: 1.3 ms, without torch.compile 1.2 ms`; empty where that was not measured."""
    tuned = tuned_of(dump)
    if tuned is None or tuned.eager is None:
        return ""
    is_slower = tuned.seconds * (1 - tuned.noise) > tuned.eager
    verdict = "; it is slower compiled" if is_slower else ""
    return f"tune: {time_text(tuned.seconds)}, without torch.compile {time_text(tuned.eager)}{verdict}"


def steps_table(request: Request) -> Block:
    """What the run itself profiled: the parts of a step by kind, then each of them."""
    account = recorded_account(request.dump)
    if account is None:
        why_not = next((row.why_not for row in request.dump.rows(StepsProfiled) if row.why_not), "")
        words = f"no step was profiled: {one_line(why_not)}" if why_not else NOT_PROFILED
        return styled(text_or_nothing(request.dump, words), "dim")
    rows = request.kept(account.rows)
    lines = list(step_heading(account.step, account.rows))
    if words := eager_text(request.dump):
        lines.append(styled(f" {words}", "dim"))
    heading = Stack(lines, gap=False)
    parts = parts_table(account.step, account.rows)
    return Stack([heading, parts, limited(ROWS, rows, request.limit, request.every("steps"))])


def steps(account: Account, *, by_step: bool = False, limit: int | None = None) -> Block:
    """The account: one line for each kind of time, or with `by_step` each part of it."""
    step, rows = account
    heading = Stack(list(step_heading(step, rows)), gap=False)
    if by_step:
        return Stack([heading, limited(ROWS, rows, limit, "--all")])
    return Stack([heading, parts_table(step, rows)])


def parts_table(step: StepAccount, rows: Sequence[StepTime]) -> Block:
    """One line for each kind of time."""
    shown = [part for part in step_parts(step, rows) if part.share >= _LEAST_SHARE]
    return limited(PARTS, shown, None, "")


TABLE: Final = DeclaredTable(steps_table, account_rows)
