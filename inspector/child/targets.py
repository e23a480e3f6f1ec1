"""Has the graphs of this process compiled for GPUs that are not here, by a process of its own for each."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import msgspec

from inspect_compile.child.setting import PYTHON_PATH, Setting
from inspect_compile.dump import paths
from inspect_compile.facts import Remark

_WORKER = "inspect_compile.child.target_worker"


class Targets:
    """The processes. They start with the first graph; each is handed the graphs as files, which it removes."""

    def __init__(self, setting: Setting, argv: list[str]) -> None:
        """`argv` is what a person would call the command."""
        self._setting = setting
        self._argv = argv
        self._workers: dict[str, subprocess.Popen[str]] = {}
        self._folder: Path | None = None
        self._sent = 0
        self.untold: list[Remark] = []
        """What every target's part is to tell, and has not been told: no graph was sent yet."""

    @property
    def names(self) -> tuple[str, ...]:
        """The targets."""
        return tuple(self._setting.targets)

    def deliver(self, data: bytes, root: Path) -> None:
        """One more graph, for every target. `root` is where this process records: each target has a part in it."""
        folder = self._started(root)
        untold, self.untold = self.untold, []
        for remark in untold:
            self.remark(remark)
        self._sent += 1
        for target, worker in self._workers.items():
            path = folder / f"{target}-{self._sent}"
            folder.mkdir(exist_ok=True)  # who takes the last graph out removes it
            path.write_bytes(data)
            self._say(worker, {"graph": str(path)})

    def remark(self, remark: Remark) -> None:
        """Something that every target's part is to tell."""
        if not self._workers:
            self.untold.append(remark)
        for worker in self._workers.values():
            self._say(worker, {"remark": msgspec.to_builtins(remark)})

    def finish(self, *, wait: bool) -> list[str]:
        """Wait until all graphs are compiled, or end it at once. What went wrong, in sentences."""
        if self._folder is None:
            return []
        found = []
        for target, worker in self._workers.items():
            if not wait:
                worker.terminate()
            if worker.stdin is not None:
                worker.stdin.close()
            status = worker.wait()
            if status and wait:
                log = paths.target_folder(target) + "/" + paths.WORKER_LOG
                found.append(f"what compiles for {target} ended with exit status {status}; {log} has its last words")
        shutil.rmtree(self._folder, ignore_errors=True)
        return found

    def forget(self) -> None:
        """In the child of a fork: they are the parent's."""
        self._workers, self._folder, self.untold = {}, None, []

    def _started(self, root: Path) -> Path:
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="inspect-compile-"))
            self._workers = {target: self._start(target, root) for target in self._setting.targets}
        return self._folder

    def _start(self, target: str, root: Path) -> "subprocess.Popen[str]":
        part = root / paths.target_folder(target)
        part.mkdir(parents=True, exist_ok=True)
        python_path = os.environ.get(PYTHON_PATH)
        changed = {"root": str(part), "target": target, "targets": [], "argv": self._argv}
        own = Setting(**{**vars(self._setting), **changed, "plain": True, "python_path": python_path})
        # A GPU that is here is not the one that is meant.
        environment = own.environment({**os.environ, "CUDA_VISIBLE_DEVICES": "", "HIP_VISIBLE_DEVICES": ""})
        with open(part / paths.WORKER_LOG, "wb") as log:
            worker = subprocess.Popen(
                [sys.executable, "-P", "-m", _WORKER, target],
                env=environment,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=subprocess.STDOUT,
                text=True,
            )
        self._say(worker, {"path": sys.path})
        return worker

    @staticmethod
    def _say(worker: "subprocess.Popen[str]", what: dict[str, Any]) -> None:
        try:
            worker.stdin.write(json.dumps(what) + "\n")  # type: ignore[union-attr]
            worker.stdin.flush()  # type: ignore[union-attr]
        except OSError:  # it has died: its exit status is told at the end
            return
