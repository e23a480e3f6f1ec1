"""A long trace out of a short one: its events again and again, later each time, with numbers of their own.

python benchmarks/synthetic_trace.py TRACE OUT --megabytes 500
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NUMBERED = ("External id", "correlation", "Ev Idx", "Sequence number")


def repeated(trace: Path, out: Path, megabytes: float) -> int:
    """Write `out`, as torch lays a trace out, with at least so many megabytes; how often the events stand in it."""
    found = json.loads(trace.read_text())
    events = found.pop("traceEvents")
    timed = [event for event in events if "ts" in event and event.get("ph") != "M"]
    start = min(event["ts"] for event in timed)
    length = max(event["ts"] + event.get("dur", 0) for event in timed) - start + 100
    step = 1 + max([event.get("args", {}).get(name, 0) for event in timed for name in NUMBERED if "args" in event])
    times = 0
    with out.open("w") as file:
        file.write(json.dumps(found, indent=2)[:-2] + ',\n  "traceEvents": [\n')
        while file.tell() < megabytes * 1e6:
            moved = list(_moved(timed, times * length, times * step)) if times else events
            file.write(",\n" if times else "")
            file.write(",\n".join(_laid_out(event) for event in moved))
            times += 1
        file.write("\n  ]\n}\n")
    return times


def _moved(events: list[dict[str, Any]], later: float, step: int) -> Iterator[dict[str, Any]]:
    for event in events:
        moved = {**event, "ts": round(event["ts"] + later, 3)}
        if "id" in event:
            moved["id"] = event["id"] + step
        if "args" in event:
            numbers = {name: event["args"][name] + step for name in NUMBERED if name in event["args"]}
            moved["args"] = {**event["args"], **numbers}
        yield moved


def _laid_out(event: dict[str, Any]) -> str:
    """`  {` and `  }` on lines of their own, the args on one, as Kineto has it."""
    args = event.get("args")
    plain = json.dumps({name: value for name, value in event.items() if name != "args"})
    more = f',\n    "args": {{\n      {json.dumps(args)[1:-1]}\n    }}' if args is not None else ""
    return f"  {{\n    {plain[1:-1]}{more}\n  }}"


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trace", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--megabytes", type=float, default=500)
    arguments = parser.parse_args()
    times = repeated(arguments.trace, arguments.out, arguments.megabytes)
    print(f"{arguments.out}: {arguments.out.stat().st_size / 1e6:.0f} MB, the events {times:,} times")


if __name__ == "__main__":
    main()
