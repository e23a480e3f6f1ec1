"""Calls a graph that was compiled again with the inputs that a check of numerics kept of a call."""

from collections.abc import Callable
from typing import Any

import torch

from inspect_compile.lowering.intervention.replay.runnable import RefusedError


def call_with(path: str) -> Callable[[Callable[[list[Any]], Any]], None]:
    """What calls a compiled graph with the inputs in the file `path`, from the same random state.

    Raises RefusedError if they cannot be read.
    """
    try:
        kept = torch.load(path, weights_only=True)
        arguments, random = list(kept["arguments"]), kept["random"]
    except Exception as error:
        raise RefusedError(f"the inputs in {path} can't be read: {type(error).__name__}: {error}") from error

    def call(compiled: Callable[[list[Any]], Any]) -> None:
        for device, state in random.items():
            if device == "cpu":
                torch.set_rng_state(state)
            else:
                torch.cuda.set_rng_state(state, device)
        with torch.no_grad():
            compiled(arguments)

    return call
