"""Times what exports programs, compiles them ahead of time, and saves and loads what was compiled: torch does not."""

from collections.abc import Callable
from typing import Any

from inspect_compile.at_start import AtStart
from inspect_compile.facts import Location, Timed
from inspect_compile.lowering.core.call_sites import CALL_SITES
from inspect_compile.lowering.frontend.times import PROBE, thread_number
from inspect_compile.probe import Probes
from inspect_compile.torch_compat import Name
from inspect_compile.torch_compat import ahead as names


def _installer(module: str) -> Callable[[Probes], None]:
    def install(probes: Probes) -> None:
        for name, words in names.CALLS.items():
            if name.module == module:
                _time_calls(probes, name, words)

    return install


install_trace = _installer("torch.export._trace")
install_export = _installer("torch.export")
install_packages = _installer("torch._inductor.debug")
install_loads = _installer("torch._inductor.package")
install_functions = _installer("torch._dynamo.aot_compile")
install_caches = _installer("torch.compiler._cache")


def _time_calls(probes: Probes, name: Name, words: str) -> None:
    def begins(instance: Any, args: tuple[Any, ...], kwargs: Any) -> tuple[float, float, Location | None]:
        return AtStart.time(), probes.spent, CALL_SITES.caller()

    def ends(state: tuple[float, float, Location | None], *ended: Any) -> None:
        start, spent, where = state
        probes.sink.add(
            Timed(
                graph="",
                name=words,
                start=start,
                seconds=round(AtStart.time() - start, 6),
                probes=round(probes.spent - spent, 6),
                thread=thread_number(),
                where=where,
            )
        )
        probes.sink.flush()

    probes.wrap(PROBE, name, before=begins, after=ends, failed=ends)
