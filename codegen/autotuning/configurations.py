"""Which configuration of a Triton kernel torch chose, and from which: it benchmarks them before the kernel's first
call.
"""

import math
import weakref
from typing import Any

from inspect_compile.at_start import AtStart
from inspect_compile.codegen.autotuning.choices import said
from inspect_compile.codegen.autotuning.questions import NUMBERS
from inspect_compile.codegen.kernels.stages import KERNELS, configuration_of, label_of
from inspect_compile.facts import Choice, Chosen, Tuning
from inspect_compile.lowering.core.undecided import UNDECIDED
from inspect_compile.probe import Probes, argument
from inspect_compile.torch_compat import Name
from inspect_compile.torch_compat import autotuning as names

PROBE = "codegen.configurations"


class _Tuned:
    """One kernel's autotuner, as plain values."""

    def __init__(self) -> None:
        self.numbers: dict[str, int] = {}
        """Graph → number of its tuning."""
        self.step: str | None = None
        """The step that is running; None between steps."""
        self.began = 0.0
        self.rows: list[dict[str, Any]] = []

    def begin(self, step: str) -> None:
        self.step, self.began, self.rows = step, AtStart.perf_counter(), []


def install(probes: Probes) -> None:
    """Hook the autotuner that holds a Triton kernel."""
    sink = probes.sink
    tuned: weakref.WeakKeyDictionary[Any, _Tuned] = weakref.WeakKeyDictionary()

    def step(name: Name, label: str) -> None:
        """Hook a step of the tuning: coordinate descent, or the parts of a combo kernel in sequence."""

        def begun(autotuner: Any, args: Any, kwargs: Any) -> None:
            tuned.setdefault(autotuner, _Tuned()).begin(label)

        def ended(state: Any, autotuner: Any, args: Any, kwargs: Any, result: Any) -> None:
            # The first step returns nothing, and leaves the autotuner with the launcher that it chose.
            found = result if label else autotuner.launchers[0]
            tell(autotuner, getattr(found, "config", None), label or "time")

        probes.wrap(PROBE, name, before=begun, after=ended, failed=gave_up)

    def timed(state: Any, autotuner: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        milliseconds = float(result)
        is_known = math.isfinite(milliseconds)
        keep(autotuner, args, kwargs, milliseconds if is_known else None, "" if is_known else _why(autotuner, args[0]))

    def failed(state: Any, autotuner: Any, args: tuple[Any, ...], kwargs: Any, error: BaseException) -> None:
        keep(autotuner, args, kwargs, None, said(error))

    def keep(autotuner: Any, args: tuple[Any, ...], kwargs: Any, milliseconds: float | None, why: str) -> None:
        found = tuned.get(autotuner)
        if found is not None and found.step is not None:
            config = argument(args, kwargs, 0, "launcher").config
            known = configuration_of(config)
            known["config"]["num_warps"] = config.num_warps
            known["config"]["num_stages"] = known["num_stages"]
            found.rows.append(
                {"label": label_of(config), "config": known["config"], "milliseconds": milliseconds, "why": why}
            )

    def gave_up(state: Any, autotuner: Any, args: Any, kwargs: Any, error: BaseException) -> None:
        tell(autotuner, None, "")

    def tell(autotuner: Any, config: Any, by: str) -> None:
        found = tuned[autotuner]
        ran, seconds, found.step = found.step or "", round(AtStart.perf_counter() - found.began, 6), None
        for graph, kernel in KERNELS.get(autotuner, {}).items() if found.rows else ():
            number = found.numbers.get(graph)
            if number is None:
                number = found.numbers[graph] = next(NUMBERS)
            sink.add(Tuning(graph=graph, number=number, about="kernel", name=kernel, seconds=seconds))
            sink.add_all(
                [Choice(graph=graph, tuning=number, kind="configuration", step=ran, **row) for row in found.rows]
            )
            if config is not None:
                sink.add(Chosen(graph=graph, tuning=number, label=label_of(config), by=by))
        sink.flush()
        if ran or not autotuner.inductor_meta.get("coordinate_descent_tuning"):
            for graph, kernel in KERNELS.get(autotuner, {}).items():
                UNDECIDED.decided(graph, kernel)

    probes.wrap(PROBE, names.BENCH, after=timed, failed=failed)
    step(names.TUNE_KERNEL, "")
    step(names.COMBO, "sequential")
    step(names.DESCEND, "descent")


def _why(autotuner: Any, launcher: Any) -> str:
    """Why a configuration was not run: torch skips those that spill registers, and from 2.13 on says so."""
    reason = getattr(autotuner, "benchmark_failure_reasons", {}).get(launcher)
    if reason is not None:
        return str(getattr(reason, "value", reason)).replace("_", " ")
    spills = getattr(launcher, "n_spills", None)
    return f"it spills {spills} registers" if spills else "torch gives no reason"
