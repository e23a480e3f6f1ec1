"""Which matrix multiplications torch pads on a GPU, so that their sizes are multiples of its vector width."""

import threading
from typing import Any, Final

from inspect_compile.facts import Remark
from inspect_compile.lowering.core import values
from inspect_compile.lowering.core.scopes import compile_id, torch_object
from inspect_compile.lowering.passes import inherited
from inspect_compile.probe import Probes
from inspect_compile.torch_compat import inductor as names

PROBE = "lowering.padded_matmuls"
_KNOB: Final = "torch._inductor.config.shape_padding"


class _Timed(threading.local):
    """Times without and with padding, in milliseconds, of the decision that runs on this thread."""

    found: tuple[float, float] | None = None


def install(probes: Probes) -> None:
    """Hook the decision."""
    timed = _Timed()

    def asking(instance: Any, args: Any, kwargs: Any) -> None:
        timed.found = None

    def measured(state: Any, instance: Any, args: tuple[Any, ...], kwargs: Any, result: Any) -> None:
        if len(args) == 3:
            timed.found = float(args[1]), float(args[2])

    def decided(state: Any, instance: Any, args: tuple[Any, ...], kwargs: Any, result: Any) -> None:
        found = _remark(args, bool(result), timed.found) if len(args) >= 4 else None
        if found is not None:
            probes.sink.add(found)

    probes.wrap(PROBE, names.PADDED_IS_FASTER, after=measured)
    probes.wrap(PROBE, names.SHOULD_PAD, before=asking, after=decided)


def _remark(args: tuple[Any, ...], padded: bool, timed: tuple[float, float] | None) -> Remark | None:
    """A remark about the decision; None if nothing would be padded: on a CPU, and if all sizes are multiples already,
    or symbolic.
    """
    match, first, second = args[:3]
    more, to = torch_object(names.PADDED_LENGTHS), torch_object(names.PADDED_TO)
    if first.device.type == "cpu" or more is None or to is None:
        return None
    lengths = {"m": (first, first.shape[-2]), "k": (first, first.shape[-1]), "n": (second, second.shape[-1])}
    adds = {name: more(length, to(tensor)) for name, (tensor, length) in lengths.items() if type(length) is int}
    adds = {name: added for name, added in adds.items() if added}
    if not adds:
        return None
    node = match.output_node()
    where = inherited.line_of(node)
    paddings = ", ".join(f"{name} {lengths[name][1]} + {added}" for name, added in adds.items())
    numbers: dict[str, float | int | str] = {f"{name}_added": added for name, added in adds.items()}
    if timed is not None:
        numbers |= {"milliseconds": timed[0], "padded_milliseconds": timed[1]}
    return Remark(
        graph=compile_id() or "",
        kind="passed" if padded else "missed",
        code="padded-matmul",
        message=f"{node.name} is {'padded' if padded else 'not padded'} ({paddings}): {_why(padded, timed)}",
        numbers=numbers,
        knob=_KNOB,
        where=values.line_text(where),
        place=where,
        ids=(node.name,),
    )


def _why(padded: bool, timed: tuple[float, float] | None) -> str:
    config = torch_object(names.CONFIG)
    if timed is not None and timed[0] == timed[1]:
        return "both take the same time, or there was no device to measure on"
    if timed is not None:
        return f"it was measured, {timed[0]:.3g} ms without and {timed[1]:.3g} ms with padding"
    if config is not None and not config.shape_padding:
        return "shape_padding is off"
    if padded:
        forced = config is not None and config.force_shape_pad
        return "force_shape_pad is on" if forced else "torch has measured that before, or need not"
    return "it is memory bound, or torch has measured that it is slower"
