"""Templates and library functions that torch benchmarks while the compile continues (`pipeline_max_autotune_gemm`)."""

import time
from typing import Any

from inspect_compile.codegen.autotuning.questions import OPTIONS, question_of, tell, timed
from inspect_compile.probe import Probes
from inspect_compile.torch_compat import autotuning as names

PROBE = "codegen.pipelined"


def install(probes: Probes) -> None:
    """Hook what passes choices to the benchmarking process, and what waits for their times."""

    def started(autotuner: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        choices, inputs = _arguments(args, kwargs)
        for choice in choices:
            if choice in OPTIONS and autotuner.get_choice_hash(choice, inputs) not in autotuner.choice_hash_to_future:
                OPTIONS[choice][1].is_measured = True  # others were timed for an earlier graph

    def waiting(autotuner: Any, args: Any, kwargs: Any) -> float:
        return time.perf_counter()

    def answered(start: float, autotuner: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        question = question_of(_arguments(args, kwargs)[0])
        if question is None or question.is_told:
            return
        question.in_worker = True
        question.seconds = round(time.perf_counter() - start, 6)
        timed(result, is_measured=False)
        tell(probes, question)

    probes.wrap(PROBE, names.PIPELINE_START, before=started)
    probes.wrap(PROBE, names.PIPELINE_RESULTS, before=waiting, after=answered)


def _arguments(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, Any]:
    return (args[0] if args else kwargs["choices"], args[1] if len(args) > 1 else kwargs["inputs_key"])
