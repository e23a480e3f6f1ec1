"""Whether the program of a dump is still running, as far as the dump can tell."""

import os

import msgspec

from inspect_compile.dump import Dump
from inspect_compile.facts import GraphEnd


class RunState(msgspec.Struct, frozen=True):
    """The state of a recorded program."""

    is_growing: bool
    """True while it runs: tables may still get rows."""
    text: str
    """A sentence for a person; empty if the program ended well and recorded that."""


def run_state(dump: Dump) -> RunState:
    """What became of the program. A killed one leaves `running` behind: its process is looked up on this machine."""
    run = dump.run
    if run.status == "ranks":
        states = [(path.name, run_state(Dump(path))) for path in dump.other_processes]
        texts = [f"{name}: {state.text}" for name, state in states if state.text]
        return RunState(any(state.is_growing for _, state in states), "; ".join(texts))
    if run.status == "running":
        if _is_alive(run.pid):
            return RunState(True, f"the program still runs (pid {run.pid}): there may be more to come")
        return RunState(
            False,
            "the end of the program was not recorded: it was killed or called os._exit, its disk was full, or this"
            " dump comes from another machine",
        )
    if run.exception is not None:
        return RunState(False, f"the program ended with {run.exception}")
    if run.exit_code and run.status != "killed":
        return RunState(False, f"the program ended with exit status {run.exit_code}")
    status = f" (exit status {run.exit_code})" if run.exit_code else ""
    return RunState(False, "" if run.status == "finished" else f"the program was {run.status}{status}")


def compile_status(end: GraphEnd | None, *, is_growing: bool) -> str:
    """The status of a graph's compile: from its end; else `open`, or `unfinished` if the program ended before it."""
    if end is not None:
        return end.status
    return "open" if is_growing else "unfinished"


def _is_alive(pid: int) -> bool:
    if pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        pass
    return True
