"""What a finding about the precision of library calls says of them: where, how often, and what of a step it costs."""

from collections.abc import Sequence

from inspect_compile.analysis.cost.roofline import Bounds
from inspect_compile.analysis.findings.finding import EACH_CALL, EACH_STEP, Finding, parts_at
from inspect_compile.analysis.runtime.step_account import Account
from inspect_compile.graph import outermost
from inspect_compile.knowledge.cost.sure import ESTIMATED, sure_of
from inspect_compile.knowledge.overview.findings import WORDS


def of_calls(
    kind: str, calls: Sequence[Bounds], largest: Bounds, seconds: float, account: Account | None, *, why: str
) -> Finding:
    """One finding for all of `calls`, at the line of the largest. `seconds` are of a step of `account`, where there is
    one, and else estimated, of one call of each graph. No step is shorter than what it takes the host.
    """
    if account is not None and account.step.host is not None:
        least = account.step.host
        if account.step.seconds - least < seconds:
            seconds = max(0.0, account.step.seconds - least)
            why = f"{why}; the host alone takes {least * 1e3:.3g} ms of a step"
    steps = None if account is None else account.step.steps
    return Finding(
        kind=kind,
        graph=outermost(largest.graph),
        what=WORDS[kind].what,
        parts=parts_at(largest.lines[0] if largest.lines else None, largest.nodes[-1] if largest.nodes else ""),
        count=len(calls),
        seconds=seconds,
        when=EACH_CALL if account is None else EACH_STEP,
        share=None if account is None else seconds / account.step.seconds,
        sure=ESTIMATED if steps is None else sure_of(steps),
        calls=steps,
        is_bound=account is not None,
        why=why,
        to_do=WORDS[kind].to_do,
        names=(largest.kernel,),
    )
