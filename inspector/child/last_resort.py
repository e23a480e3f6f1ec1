"""What is left to do where the end of a watched process cannot be recorded as usual.

Light, and loaded at interpreter start: at the end a module may be gone, or no file can be opened.
"""

import _signal
import json
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from inspect_compile.child.process import Process

_DEPTH = 1000
"""Python's own limit of recursion, which imports at the end must have."""
_LIMITS = ("RLIMIT_NOFILE", "RLIMIT_FSIZE", "RLIMIT_AS", "RLIMIT_DATA")


class Room:
    """A block with what the end needs, whatever limits the program has set for itself."""

    def __enter__(self) -> None:
        self._depth = sys.getrecursionlimit()
        self._limits: list[tuple[int, tuple[int, int]]] = []
        if self._depth < _DEPTH:
            sys.setrecursionlimit(_DEPTH)
        resource = sys.modules.get("resource")
        for name in _LIMITS:
            try:
                limit = getattr(resource, name)
                soft, hard = resource.getrlimit(limit)  # type: ignore[union-attr]
                if soft != hard:
                    resource.setrlimit(limit, (hard, hard))  # type: ignore[union-attr]
                    self._limits.append((limit, (soft, hard)))
            except Exception:  # it is not loaded, or it is a module of the program's with that name
                continue

    def __exit__(self, *_: object) -> None:
        try:
            for limit, before in self._limits:
                sys.modules["resource"].setrlimit(limit, before)
            sys.setrecursionlimit(self._depth)
        except Exception:
            return


def record(start: "Process", error: BaseException) -> None:
    """Record that the process has ended, and what kept us from recording more. Raises nothing, prints nothing."""
    note = f"the end of the program is not recorded in full: {type(error).__name__}: {error}"
    root = start.setting.root
    session = start.session
    try:
        if session is not None:
            from inspect_compile.child import run_record  # it is loaded

            session.notes.append(note)
            session.close(run_record.how_it_ended())
    except BaseException:
        pass
    try:
        if session is not None:
            if not session.recorder.has_begun:
                return
            root = str(session.recorder.root)
        before = _signal.getsignal(_signal.SIGXFSZ)
        if before is _signal.SIG_DFL:
            _signal.signal(_signal.SIGXFSZ, _signal.SIG_IGN)  # else a file that gets too large ends the process
        try:
            _write(os.path.join(root, "run.json"), note)
        finally:
            if before is _signal.SIG_DFL:
                _signal.signal(_signal.SIGXFSZ, before)
    except BaseException:
        return


def _write(path: str, note: str) -> None:
    """Change the run.json at `path`, without what could be missing by now."""
    with open(path, encoding="utf-8") as file:
        run = json.load(file)
    if run["pid"] != os.getpid():
        return
    if run["status"] == "running":
        value = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
        run["status"] = "finished" if value is None else "raised"
        if value is not None:
            run["exception"] = type(value).__name__  # more would call the program's code
    if note not in run["notes"]:
        run["notes"].append(note)
    beside = f"{path}.{os.getpid()}.tmp"
    try:
        with open(beside, "w", encoding="utf-8") as file:
            json.dump(run, file, indent=2)
            file.write("\n")
        os.replace(beside, path)
    except BaseException:
        os.unlink(beside)
        raise
