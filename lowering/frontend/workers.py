"""Watches the processes that compile whole graphs for this one (TORCHINDUCTOR_FX_COMPILE_MODE=SUBPROCESS) too.

torch starts them with an environment of its own. Processes that only build kernels have nothing to record: kernels and
their sources are seen in this process, where they are defined.
"""

import threading
from typing import Any

from inspect_compile.probe import Probes, argument
from inspect_compile.torch_compat import inductor as names

PROBE = "lowering.workers"


def install(probes: Probes) -> None:
    """Hook the pool's start, and the environment that is made for it."""
    starting = threading.local()
    """`.graphs`: whether this thread is starting a process that compiles graphs."""

    def begins(pool: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        starting.graphs = getattr(argument(args, kwargs, 2, "kind"), "value", None) == "spawn"

    def ended(*_: Any) -> None:
        starting.graphs = False

    def made(state: Any, instance: Any, args: Any, kwargs: Any, environment: dict[str, str]) -> None:
        door = probes.open_door if getattr(starting, "graphs", False) else probes.close_door
        if door is not None:
            door(environment)

    probes.wrap(PROBE, names.WORKER_POOL, before=begins, after=ended, failed=ended)
    probes.wrap(PROBE, names.WORKER_ENVIRONMENT, after=made)
