"""What a process of a run did so far, in one line of a file that all of them append to: most compile nothing, and have
no part of the dump. Light: loaded at interpreter start, and again needed where no descriptor may be left for an import.
"""

import _signal  # type: ignore[import-not-found] # `signal` itself takes longer to load
import os
import sys
import time

from inspect_compile.at_start import AtStart
from inspect_compile.child.setting import as_json

TYPE_CHECKING = False
if TYPE_CHECKING:
    from inspect_compile.child.process import Process
    from inspect_compile.child.stretches import Taken

FILE = "processes.jsonl"
"""In the run's dump."""
_MOST_BYTES = 4 << 20
"""Of that file: a run may start any number of processes."""
_MOST_ROWS = 500
"""Imports of one line."""
_SPARSE = 1.0
"""Seconds between two lines of a process that goes on."""
_APPEND = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK


class Life:
    """The lines of one process."""

    def __init__(self, process: "Process") -> None:
        self._process = process
        self._told = 0.0
        """When it last told."""
        self._imports = 0
        """How many of those that the process keeps were told."""
        self._started_by = os.getppid()
        """Another one takes its place where that is gone."""
        self._parent: list[dict[str, object]] = []

    def sees_parent(self) -> None:
        """Look what the process that started this one has used so far, and what it waits in."""
        parent = os.getppid()
        if self._process.pid == self._process.setting.pid or parent != self._started_by or sys.platform != "linux":
            return
        try:
            self._parent.append(_of_process(parent))
        except (OSError, ValueError, IndexError):  # it is gone, or the system hides it
            return

    def tell(self, *, is_last: bool = False) -> None:
        """Append a line. A process that was forked, or that works for another one of ours, tells none."""
        process = self._process
        setting = process.setting
        now = AtStart.time()
        has_part = process.session is not None and process.session.recorder.has_begun
        is_due = is_last or (now - self._told >= _SPARSE and not has_part)
        if os.getpid() != process.pid or setting.serves is not None or not is_due:
            return
        self._told = now
        if is_last:
            self.sees_parent()
        imports = [] if has_part else process.imports[self._imports :][:_MOST_ROWS]
        self._imports += len(imports)
        stretches = process.stretches.taken()
        row = {
            "fact": "process_life",
            "pid": process.pid,
            "parent_pid": self._started_by,
            "name": _name_in_multiprocessing() or _name(sys.orig_argv),
            "born": born(),
            "started": process.time,
            "last": AtStart.time(),
            "is_last": is_last,
            "used": sum(os.times()[:4]),
            "imports": [
                {"module": module, "start": start, "seconds": round(seconds, 6)} for module, start, seconds in imports
            ],
            "stretches": [of_stretch(before, after) for before, after in stretches],
            "parent": self._parent,
        }
        self._parent = []
        append(os.path.join(setting.top or setting.root, FILE), row)


def append(path: str, row: "dict[str, object]") -> None:
    """Append a row to the file, if its folder is there. Nothing is written where a file beyond a limit of the program's
    would end its process.
    """
    if _signal.getsignal(_signal.SIGXFSZ) is not _signal.SIG_IGN:
        return
    line = f"{as_json(row)}\n".encode()
    try:
        file = AtStart.open_descriptor(path, _APPEND, 0o666)
    except OSError:
        return
    try:
        if os.fstat(file).st_size + len(line) <= _MOST_BYTES:
            AtStart.write(file, line)
    finally:
        AtStart.close(file)


def of_stretch(before: "Taken", after: "Taken") -> "dict[str, float | None]":
    """The fields of a stretch."""
    start, main, children, queued = before
    is_queue_known = queued is not None and after[3] is not None
    return {
        "start": start,
        "seconds": round(after[0] - start, 6),
        "before": round(main, 6),
        "main": round(max(after[1] - main, 0.0), 6),
        "children": round(max(after[2] - children, 0.0), 6),
        "queued": round(max((after[3] or 0.0) - (queued or 0.0), 0.0), 6) if is_queue_known else None,
    }


def born() -> float | None:
    """When the system started this process, in seconds since the epoch; None where Linux's /proc does not say."""
    try:
        ticks = int(_stat("/proc/self/stat")[19])
        since_boot = AtStart.clock(time.CLOCK_BOOTTIME)
        return round(AtStart.time() - since_boot + ticks / os.sysconf("SC_CLK_TCK"), 3)
    except (OSError, ValueError, IndexError, AttributeError):
        return None


def _of_process(pid: int) -> "dict[str, object]":
    """What that process has used so far; raises OSError where the system does not say."""
    tick = os.sysconf("SC_CLK_TCK")
    main = _stat(f"/proc/{pid}/task/{pid}/stat")
    try:
        waits_in = _read(f"/proc/{pid}/wchan").decode("ascii", "replace") if main[0] != b"R" else ""
    except OSError:  # of another user
        waits_in = ""
    return {
        "at": AtStart.time(),
        "main": (int(main[11]) + int(main[12])) / tick,
        "waits_in": "" if waits_in == "0" else waits_in,
    }


def _stat(path: str) -> list[bytes]:
    """The fields behind the name of the program, which may hold anything."""
    return _read(path).rpartition(b")")[2].split()


def _read(path: str) -> bytes:
    file = AtStart.open_descriptor(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(file, 4096)
    finally:
        AtStart.close(file)


def _name(words: "list[str]") -> str:
    """What runs, without its arguments: `serve.py`, `-m package.module`, `-c`."""
    for at, word in enumerate(words[1:], 1):
        if word in ("-m", "-c"):
            text = words[at + 1] if at + 1 < len(words) else ""
            if word == "-m":
                return f"-m {_printable(text)}"
            return next((known for start, known in _OF_PYTHON if text.startswith(start)), "-c")
        if word in ("-W", "-X"):
            continue
        if not word.startswith("-") and words[at - 1] not in ("-W", "-X"):
            folder, file = os.path.split(word)
            return _printable(os.path.basename(folder) if file == "__main__.py" else file)
    return ""


def _name_in_multiprocessing() -> str:
    """The name that the parent gave a process of multiprocessing's; empty for any other."""
    module = sys.modules.get("multiprocessing.process")
    try:
        name = "" if module is None else module.current_process().name
        return "" if name == _MAIN else _printable(name)
    except Exception:  # it is not loaded completely, or a module of the program's with that name
        return ""


def _printable(text: str) -> str:
    """Without the lone surrogates that stand for bytes that are not UTF-8: JSON cannot represent them."""
    return text.encode("utf-8", "backslashreplace").decode()


_MAIN = "MainProcess"
"""The name in multiprocessing of a process that it has not started."""
_OF_PYTHON = (
    ("from multiprocessing.spawn import", "multiprocessing, spawned"),
    ("from multiprocessing.forkserver import", "multiprocessing, fork server"),
    ("from multiprocessing.resource_tracker import", "multiprocessing, resource tracker"),
)
"""What commands of Python's own begin with."""
