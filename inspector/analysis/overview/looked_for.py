"""The kinds of findings, and which of them are looked for in a dump: some can be seen with certain runs alone."""

import msgspec

from inspect_compile.analysis.runtime.step_of_dump import recorded_account
from inspect_compile.dump import Dump
from inspect_compile.facts import Binary, CudaGraph, Tuned
from inspect_compile.knowledge.origins import ORIGINS
from inspect_compile.knowledge.overview.finding_kinds import KINDS


class KindLookedFor(msgspec.Struct, frozen=True, tag_field="fact", tag="finding_kind"):
    """One kind of finding. `show findings --kinds --json` prints these."""

    kind: str
    what: str
    why_not: str = ""
    """Why this dump cannot have it; empty if it is looked for."""


def looked_for(dump: Dump) -> list[KindLookedFor]:
    """Every kind."""
    is_on_gpu = dump.run.device != "cpu" or bool(dump.run.target)
    why_not = {
        "numerics": "" if dump.run.numerics is not None else "no call of this run was checked",
        "tune": "" if dump.rows(Tuned) else "no change was tried on the program",
        "cache": "" if dump.run.cache != "bypass" else "torch's cache is bypassed while recording",
        "cudagraphs": "" if dump.rows(CudaGraph) or is_on_gpu else "nothing ran on a GPU",
        "steps": "" if recorded_account(dump) is not None else "no step of the program was profiled",
        "gpu": "" if is_on_gpu or dump.rows(Binary) else "nothing was compiled for a GPU",
    }
    held = ORIGINS.get(dump.run.origin)
    not_held = "" if held is None else f"a {dump.run.origin} holds nothing of it"
    return [
        KindLookedFor(
            one.kind,
            one.what,
            why_not.get(one.needs, "") if held is None else "" if one.kind in held.findings else not_held,
        )
        for one in KINDS
    ]
