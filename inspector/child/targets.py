"""Has the graphs of this process compiled for GPUs that are not present, by a separate process for each."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import IO, Any

import msgspec

from inspect_compile.child.setting import PYTHON_PATH, Setting
from inspect_compile.dump import paths
from inspect_compile.facts import Remark

_WORKER = "inspect_compile.child.workers.target_worker"
_INTERRUPTED = "interrupted: what was not compiled by then is missing"


class Targets:
    """The processes. They start with the first graph, and receive graphs as files, which they remove."""

    def __init__(self, names: tuple[str, ...], setting: Setting, argv: list[str]) -> None:
        """`setting` is this process's; `argv` what a person would call the command."""
        self.names = names
        """The targets."""
        self._setting = setting
        self._argv = argv
        self._workers: dict[str, subprocess.Popen[bytes]] = {}
        self._folder: Path | None = None
        self._sent = 0
        self.untold: list[Remark] = []
        """Remarks for every target's part that wait for the first graph."""

    def deliver(self, data: bytes, root: Path) -> None:
        """Send one more graph to every target. `root` is this process's part: each target has a part in it."""
        folder = self._started(root)
        untold, self.untold = self.untold, []
        for remark in untold:
            self.remark(remark)
        self._sent += 1
        for target, worker in self._workers.items():
            path = folder / f"{target}-{self._sent}"
            folder.mkdir(exist_ok=True)  # whoever takes the last graph out removes it
            path.write_bytes(data)
            self._say(worker, {"graph": str(path)})

    def remark(self, remark: Remark) -> None:
        """Send a remark that every target's part should have."""
        if not self._workers:
            self.untold.append(remark)
        for worker in self._workers.values():
            self._say(worker, {"remark": msgspec.to_builtins(remark)})

    def finish(self, *, wait: bool) -> list[str]:
        """Wait until all graphs are compiled, or end it at once. Returns what went wrong, in sentences."""
        if self._folder is None:
            return []
        found = []
        for worker in self._workers.values():
            if not wait:
                worker.terminate()
            with contextlib.suppress(OSError):  # it has died, and there was more to send
                _pipe(worker).close()
        for target, worker in self._workers.items():
            try:
                status = worker.wait()
            except KeyboardInterrupt:  # the program has ended, and nobody waits any longer
                self._end()
                found.append(_INTERRUPTED)
                break
            if status and not wait:
                found.append(_INTERRUPTED)
            elif status:
                log = paths.target_folder(target) + "/" + paths.WORKER_LOG
                found.append(f"the compile for {target} ended {_how(status)}; {log} has its output")
        shutil.rmtree(self._folder, ignore_errors=True)
        return list(dict.fromkeys(found))

    def _end(self) -> None:
        for worker in self._workers.values():
            worker.terminate()
        for worker in self._workers.values():
            worker.wait()

    def forget(self) -> None:
        """In the child of a fork: they belong to the parent."""
        self._workers, self._folder, self.untold = {}, None, []

    def _started(self, root: Path) -> Path:
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="inspect-compile-"))
            self._workers = {target: self._start(target, root) for target in self.names}
        return self._folder

    def _start(self, target: str, root: Path) -> "subprocess.Popen[bytes]":
        part = root / paths.target_folder(target)
        part.mkdir(parents=True, exist_ok=True)
        python_path = os.environ.get(PYTHON_PATH)
        changed = {"root": str(part), "target": target, "run": {**self._setting.run, "targets": ()}, "argv": self._argv}
        own = Setting(**{**vars(self._setting), **changed, "plain": True, "python_path": python_path})
        # A GPU that is present is not the one that is meant.
        environment = own.environment({**os.environ, "CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": ""})
        with open(part / paths.WORKER_LOG, "wb") as log:
            worker = subprocess.Popen(
                [sys.executable, "-P", "-m", _WORKER, target],
                env=environment,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                bufsize=0,  # nothing is left behind for one that has died
                start_new_session=True,  # Ctrl-C is for the program, which then ends this process
            )
        self._say(worker, {"path": sys.path})
        return worker

    @staticmethod
    def _say(worker: "subprocess.Popen[bytes]", what: dict[str, Any]) -> None:
        # A program for which SIGPIPE is fatal must not write to one that has died.
        with contextlib.suppress(OSError):  # its exit status is reported at the end
            if worker.poll() is None:
                _pipe(worker).write(json.dumps(what).encode() + b"\n")


def _pipe(worker: "subprocess.Popen[bytes]") -> IO[bytes]:
    assert worker.stdin is not None
    return worker.stdin


def _how(status: int) -> str:
    return f"with exit status {status}" if status > 0 else f"by {signal.Signals(-status).name}"
