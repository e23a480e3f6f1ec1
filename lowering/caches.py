"""torch's FX-graph and AOTAutograd caches: a compile that they serve has no lowering to watch.

While we watch, their look-ups miss; what is compiled is stored as torch would store it, and the kernel caches stay
on. With `--cache keep` nothing is changed, and what was served from them is recorded.
"""

from typing import Any

from inspect_compile.facts import CacheLookup
from inspect_compile.lowering.scopes import compile_id
from inspect_compile.probe import Probes
from inspect_compile.torch_compat import inductor as names

PROBE = "lowering.caches"

_NAMES = {"FxGraphCache": "fx_graph", "AOTAutogradCache": "aot_autograd"}


def install_fx(probes: Probes) -> None:
    """Hook the look-ups of both caches, and the answers of the FX-graph cache."""

    def passed_over(cache: Any) -> bool:
        if not probes.pass_over_caches:
            return False
        name = _NAMES.get(cache.__name__, cache.__name__)
        probes.sink.add(CacheLookup(graph=compile_id() or "", cache=name, outcome="passed over"))
        return True

    def loaded(state: Any, instance: Any, args: Any, kwargs: Any, result: Any) -> None:
        if probes.pass_over_caches:
            return
        info = result[1] if isinstance(result, tuple) and len(result) == 2 else {}
        outcome = str(info.get("cache_state", "hit" if result and result[0] is not None else "miss"))
        probes.sink.add(CacheLookup(graph=compile_id() or "", cache="fx_graph", outcome=outcome))

    # As if there were no candidates: torch counts and logs the miss as one of its own.
    probes.miss(PROBE, names.CACHE_CANDIDATES, passed_over, lambda: iter(()))
    probes.wrap(PROBE, names.FX_LOAD, after=loaded)


def install_aot(probes: Probes) -> None:
    """Hook the answers of the AOTAutograd cache."""

    def loaded(state: Any, instance: Any, args: Any, kwargs: Any, result: Any) -> None:
        if not probes.pass_over_caches:
            probes.sink.add(
                CacheLookup(graph=compile_id() or "", cache="aot_autograd", outcome="miss" if result is None else "hit")
            )

    probes.wrap(PROBE, names.AOT_LOOKUP, after=loaded)
