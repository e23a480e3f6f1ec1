"""Has torch pass over the frames of hooks where it walks the stack, as it does with those of its own."""

from inspect_compile.probe import Probes, uncounted_file
from inspect_compile.torch_compat import dynamo as names

PROBE = "lowering.passed_over"


def install(probes: Probes) -> None:
    """Add their file to those that torch has a list of; frames of other files are known by torch's folder."""
    plain = names.UNINTERESTING.load()
    probes.answer(PROBE, names.UNINTERESTING, set, lambda instance, args, kwargs: {*plain(), uncounted_file()})
