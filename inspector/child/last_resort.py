"""What is left to do where the end of a watched process cannot be recorded as usual.

Light, and loaded at interpreter start: at the end a module may be gone, or no file can be opened.
"""

import _signal  # type: ignore[import-not-found] # `signal` itself takes longer to load
import errno
import json
import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from inspect_compile.child.process import Process

MISSING = "the end of the program is not recorded in full"
_DEPTH = 1000
"""Python's own limit of recursion, which imports at the end must have."""
_MOST = 1 << 16
"""Descriptors that are closed for another process."""
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


def record(start: "Process", note: str) -> None:
    """Record that the process has ended, and `note`: what kept us from recording more. Raises and prints nothing."""
    session = start.session
    root = start.setting.root
    value = getattr(sys, "last_exc", None) or getattr(sys, "last_value", None)
    kind = "" if value is None else type(value).__name__  # more would call the program's code
    try:
        if session is not None:
            from inspect_compile.child import run_record  # it is loaded

            session.notes.append(note)
            session.close(run_record.how_it_ended())
            if not session.recorder.has_begun:
                return
            root = str(session.recorder.root)
    except BaseException:
        pass
    path = os.path.join(root, "run.json")
    before = _signal.getsignal(_signal.SIGXFSZ)
    try:
        if before is _signal.SIG_DFL:
            _signal.signal(_signal.SIGXFSZ, _signal.SIG_IGN)  # else a file that gets too large ends the process
        try:
            _write(path, os.getpid(), kind, note)
        except OSError as error:
            if error.errno in (errno.EMFILE, errno.ENFILE):
                _write_elsewhere(path, kind, note)
    except BaseException:
        pass
    finally:
        if before is _signal.SIG_DFL:
            _signal.signal(_signal.SIGXFSZ, before)


def say(start: "Process", note: str) -> None:
    """Print `note` as the last line, if that is still possible. Raises nothing."""
    try:
        from inspect_compile.child import exit_summary, surroundings

        is_leader = os.getpid() == start.setting.leader
        if is_leader and not start.setting.quiet and start.has_stderr() and surroundings.is_first_here():
            exit_summary.say([f"inspect-compile: {' '.join(note.split())}"])
    except BaseException:
        return


def _write(path: str, pid: int, kind: str, note: str) -> None:
    """Change the run.json of process `pid`, ended by an exception of that `kind` or by none."""
    with open(path, encoding="utf-8", opener=_opened) as file:
        run = json.JSONDecoder().decode(file.read())
    if run["pid"] != pid or (run["status"] != "running" and note in run["notes"]):
        return
    if run["status"] == "running":
        run["status"] = "raised" if kind else "finished"
        run["exception"] = kind or None
    run["notes"] = [*run["notes"], *([note] if note not in run["notes"] else [])]
    beside = f"{path}.{pid}.tmp"
    try:
        with open(beside, "w", encoding="utf-8", opener=_opened) as file:
            file.write(json.JSONEncoder(indent=2).encode(run))
            file.write("\n")
        os.replace(beside, path)
    except BaseException:
        os.unlink(beside)
        raise


def _opened(path: str, how: int) -> int:
    """A descriptor. A pipe in the file's place would keep the program waiting: it is refused, or found empty."""
    return os.open(path, how | os.O_NONBLOCK, 0o666)


def _write_elsewhere(path: str, kind: str, note: str) -> None:
    """The same by another process, where this one can open no file. It has none of the descriptors, and starts without
    the handlers that a program may have for forks.
    """
    limit = os.sysconf("SC_OPEN_MAX")
    process = os.posix_spawn(
        sys.executable,
        [sys.executable, "-I", "-S", __file__, path, str(os.getpid()), kind, note],
        {},
        file_actions=[(os.POSIX_SPAWN_CLOSE, number) for number in range(3, min(limit, _MOST))],
    )
    os.waitpid(process, 0)


if __name__ == "__main__":
    _write(sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4])
