"""The process of a trial: begins when the program imports torch, and answers when it has seen enough or ends."""

import atexit
import functools
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NoReturn

import msgspec

from inspect_compile.facts.trials import COMPARING, COMPILED_CALL, OPTIMIZER_STEP, Answer, Request
from inspect_compile.lowering.intervention.trial.changes import Changes
from inspect_compile.lowering.intervention.trial.clock import Clock
from inspect_compile.lowering.intervention.trial.forks import loaded_since, serve
from inspect_compile.lowering.intervention.trial.results import Results, nudge
from inspect_compile.lowering.intervention.trial.stages import Stages
from inspect_compile.probe import untraced
from inspect_compile.torch_compat import runtime as names

_SEED: Final = 0
"""For programs that set none: their runs could not be compared."""

ENOUGH: Final = 0
"""The exit status of a program that a trial has ended."""


def install(asked: Mapping[str, str]) -> None:
    """Begin the trial that the file `asked["request"]` describes, or those that are asked for over the socket
    `asked["serves"]`; torch has just been imported.
    """
    if "serves" not in asked:
        request = _request(asked["request"])
        _Trial(request, Stages(request.asked, float(asked["importing"]))).install()
        return
    file, turns = serve(asked)
    request = msgspec.structs.replace(_request(file), turns=turns)
    _Trial(request, Stages(request.asked, time.monotonic())).install()


def _request(file: str) -> Request:
    return msgspec.json.decode(Path(file).read_bytes(), type=Request)


class _Trial:
    """What a trial asks for, and what it has seen so far."""

    def __init__(self, request: Request, stages: Stages) -> None:
        self._request = request
        self._stages = stages
        self._pid = os.getpid()
        self._environment = dict(os.environ)
        self._is_environment_kept = True
        self._modules = frozenset(sys.modules)
        self._main = getattr(sys.modules["__main__"], "__file__", None) or ""  # Python forgets it before atexit
        self._results = Results(request.results, is_reference=request.is_reference)
        self._clock = Clock(request, stages, self._stop)
        self._nudged: set[int] = set()
        self._changes = Changes(request.changes, self._watched)

    def install(self) -> None:
        """Put in the changes, and watch steps."""
        import torch
        from torch.optim.optimizer import register_optimizer_step_pre_hook

        self._changes.install()
        if self._request.turns >= 0:
            os.set_inheritable(self._request.turns, False)
        register_optimizer_step_pre_hook(self._stepping)
        compiles = names.COMPILES.load()
        compiles.register_start_callback(self._clock.compile_began)
        compiles.register_end_callback(self._clock.compile_ended)
        atexit.register(self._answer, is_stopped=False)
        torch.manual_seed(_SEED)

    def _stepping(self, optimizer: Any, words: Any, given: Any) -> None:
        import torch

        if torch.compiler.is_compiling():  # a compiled step: its call is what counts
            return
        self._results.stepping(optimizer)
        if self._request.is_nudged and self._results.are_kept:
            nudge(optimizer, is_first=id(optimizer) not in self._nudged)
            self._nudged.add(id(optimizer))
        self._clock.mark(OPTIMIZER_STEP, type(optimizer).__name__, 2)

    def _watched(self, compiled: Any, model: Any) -> Any:
        """What the program gets in the place of a compiled function; of a module, the same with another `forward`."""
        import torch

        self._is_environment_kept &= dict(os.environ) == self._environment
        is_module = isinstance(compiled, torch.nn.Module)
        plain = compiled.forward if is_module else compiled
        name = type(model).__name__ if is_module else getattr(model, "__qualname__", type(model).__name__)

        @functools.wraps(plain)
        def call(*words: Any, **given: Any) -> Any:
            self._clock.mark(COMPILED_CALL, name, 2)
            result = plain(*words, **given)
            self._results.returned(result)
            return result

        untraced(call, what_they_call=False)
        if not is_module:
            return call
        compiled.forward = call
        return compiled

    def _stop(self) -> NoReturn:
        """End the program: more of its steps would say nothing new. What waits for its end is done."""
        self._answer(is_stopped=True)
        atexit.unregister(self._answer)
        atexit._run_exitfuncs()
        for stream in (sys.stdout, sys.stderr):
            if stream is not None:
                stream.flush()
        os._exit(ENOUGH)

    def _answer(self, *, is_stopped: bool) -> None:
        if os.getpid() != self._pid:
            return
        import resource

        import torch

        self._stages.enter(COMPARING)
        clock = self._clock
        is_cuda = torch.cuda.is_initialized()  # type: ignore[no-untyped-call]
        if is_cuda:
            peak = torch.cuda.max_memory_allocated()
            memory = torch.cuda.get_device_properties(torch.cuda.current_device()).total_memory
        else:
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10
            memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
        distances = self._results.compared()
        answered = time.monotonic()
        answer = Answer(
            main=self._main,
            repeated=clock.repeated(),
            windows=tuple(clock.windows),
            constructed=tuple(self._changes.constructed),
            distances=distances,
            results=self._results.count,
            device=torch.cuda.get_device_name() if is_cuda else "cpu",
            threads=torch.get_num_threads(),
            peak_bytes=peak,
            memory_bytes=memory,
            compiles=clock.compiles,
            compile_seconds=clock.compile_seconds,
            stages=self._stages.until(answered),
            answered=answered,
            cpu_seconds=sum(
                used.ru_utime + used.ru_stime
                for used in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
            ),
            loaded=loaded_since(self._modules) if self._request.is_reference and self._is_environment_kept else None,
            is_stopped=is_stopped,
            trouble="; ".join(self._changes.trouble),
        )
        whole = Path(f"{self._request.answer}.part")
        whole.write_bytes(msgspec.json.encode(answer))
        os.replace(whole, self._request.answer)
