"""Has torch pass over the frames of hooks where it walks the stack, as it does with those of its own."""

import traceback
from typing import Any

from inspect_compile.probe import Probes, argument, uncounted_file
from inspect_compile.torch_compat import dynamo as names

PROBE = "lowering.passed_over"


def install(probes: Probes) -> None:
    """Add their file to those that torch has a list of; frames of other files are known by torch's folder. Leave them
    out of stacks that torch logs and keeps.
    """
    plain = names.UNINTERESTING.load()
    probes.answer(PROBE, names.UNINTERESTING, set, lambda instance, args, kwargs: {*plain(), uncounted_file()})
    summary = names.STACK_SUMMARY.load()

    def without_hooks(instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        frames, skip = argument(args, kwargs, 0, "tb"), argument(args, kwargs, 1, "skip")
        ours = uncounted_file()
        if all(frame["filename"] != ours for frame in frames):
            return NotImplemented
        return summary([frame for frame in frames if frame["filename"] != ours], skip)

    probes.answer(PROBE, names.STACK_SUMMARY, traceback.StackSummary, without_hooks)
