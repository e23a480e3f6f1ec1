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


def _installer(*calls: tuple[Name, str]) -> Callable[[Probes], None]:
    """`calls`: what is watched, and what torch's documentation calls it."""

    def install(probes: Probes) -> None:
        for name, words in calls:
            _time_calls(probes, name, words)

    return install


install_trace = _installer((names.EXPORT, "torch.export.export"))
install_export = _installer((names.SAVE_EXPORTED, "torch.export.save"), (names.LOAD_EXPORTED, "torch.export.load"))
install_packages = _installer((names.MAKE_PACKAGE, "aoti_compile_and_package"))
install_loads = _installer((names.LOAD_PACKAGE, "aoti_load_package"))
install_functions = _installer(
    (names.COMPILE_FUNCTION, "aot_compile"),
    (names.SAVE_FUNCTION, "save_compiled_function"),
    (names.LOAD_FUNCTION, "load_compiled_function"),
)
install_caches = _installer(
    (names.SAVE_ARTIFACTS, "save_cache_artifacts"), (names.LOAD_ARTIFACTS, "load_cache_artifacts")
)


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
