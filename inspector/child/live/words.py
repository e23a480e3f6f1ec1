"""An event as a line for people, without escape codes."""

from typing import Final

from inspect_compile.child.live.events import Event

MOST: Final = 600
"""Characters of a line: it then fits into what a pipe takes at once."""


def line_of(event: Event, process: str = "") -> str:
    """The line, without a line break; `process` says which one of several it is."""
    said = " ".join(_said(event).split())
    said = "".join(one if one.isprintable() else "?" for one in said)
    head = f"inspect-compile{f' [{process}]' if process else ''}: "
    return head + (said if len(said) <= MOST else f"{said[: MOST - 1]}…")


def _said(event: Event) -> str:
    of = " of ".join(filter(None, (event.compile_id, event.name)))
    of += f" ({event.place})" if event.place else ""
    why = "; ".join(event.why)
    match event.event:
        case "compile":
            return f"compiled {of} in {event.seconds:.1f} s{f': {why}' if why else ''}"
        case "recompile":
            return f"recompile {of}: {why}{f', needed at {event.where}' if event.where else ''}"
        case "limit":
            return f"limit reached, {of}: {why}"
        case "cache miss":
            return f"cache miss, {of}: {why or 'what differs from earlier keys is not known'}"
        case "kernel build":
            return f"Triton kernel {event.name} built in a call{f': {why}' if why else ''}"
        case "cuda graph":
            at = f" at {event.where}" if event.where else ""
            return f"CUDA graph recorded again, {of}{f': {why}' if why else ''}{at}"
        case _:
            return f"{event.count:,} lines left out: too many at once"
