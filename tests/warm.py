"""Programs of tests run in interpreters that have loaded torch already, each in a fork of its own.

What a program does, records and prints is the same as in an interpreter of its own. Tests of how an interpreter starts
and ends (tracebacks, signals, exec, command lines, imports) are in COLD, and start one for each program.
"""

import json
import os
import select
import socket
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

SERVER: Final = Path(__file__).with_name("warm_interpreter.py")
# As a frame of what runs a module it is none of the program's, for whoever walks the stack.
_CODE: Final = f"exec(compile(open({str(SERVER)!r}).read(), '<frozen runpy>', 'exec'))"

COLD: Final = (
    "child",
    "codegen/kernels/test_stages.py",  # compiles graphs for a GPU, of which torch asks once what it is
    "codegen/numerics/test_probed_triton.py",  # programs that choose Triton's interpreter before they import it
    "commands/test_run.py",
    "dump",
    "harmless",
    "hostile",
    "kept",
    "launch",
    "lowering/frontend/test_first_calls.py",
    "lowering/intervention/test_random_numbers.py",
    "probe/test_untraced.py",  # modules that are imported where Dynamo looks on
    "reports/test_puzzling.py",  # programs that an exception ends, with no frame above their own
    "targets/test_on_cuda.py",  # the same
    "torch_compat/test_gone.py",
)
"""Folders and files of tests/."""

LATE: Final = frozenset(
    {
        "COLUMNS",
        "HOSTNAME",
        "INSPECT_COMPILE_CACHE_DIR",
        "PYTEST_CURRENT_TEST",
        "TORCHINDUCTOR_CACHE_DIR",
        "TRACED_TO",
        "XDG_CACHE_HOME",
    }
)
"""Variables that are read when they are needed; any other one may be read by an import, as torch's settings are."""

_COMMAND: Final = ["-m", "inspect_compile"]
_MOST: Final = 3
"""Maximum number of interpreters; each has about 300 MB."""
HAS_CUDA: Final = os.path.exists("/dev/nvidiactl")
"""A process that has looked for CUDA devices, as a first compile does, cannot be forked: CUDA fails in the child."""


class Interpreter:
    """One such interpreter, with the environment that it was started with."""

    def __init__(self, environment: Mapping[str, str], *, first: Path | None = None) -> None:
        """`first` is a file that it runs before anything else."""
        self._connection, theirs = socket.socketpair()
        self._answers = self._connection.makefile("r")
        code = _CODE if first is None else f"import runpy; runpy.run_path({str(first)!r}, run_name='first'); {_CODE}"
        self._process = subprocess.Popen(
            [sys.executable, "-c", code, str(theirs.fileno())],
            env=dict(environment),
            stdin=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
        )
        theirs.close()

    def run(
        self, words: Sequence[str], cwd: Path, environment: Mapping[str, str], stdin: str, seconds: float
    ) -> tuple[subprocess.CompletedProcess[str], float]:
        """Run `words` to its end; also returns the CPU seconds that it took, with what it waited for."""
        with tempfile.TemporaryDirectory() as folder:
            streams = [os.path.join(folder, name) for name in ("stdin", "stdout", "stderr")]
            Path(streams[0]).write_text(stdin)
            request = {"words": list(words), "cwd": str(cwd), "environment": dict(environment), "streams": streams}
            self._connection.sendall(f"{json.dumps(request)}\n".encode())
            if not select.select([self._connection], [], [], seconds)[0]:
                self.close()
                raise subprocess.TimeoutExpired(list(words), seconds)
            status, cpu = json.loads(self._answers.readline())
            out, err = (_text(path) for path in streams[1:])
        return subprocess.CompletedProcess(list(words), status, out, err), cpu

    def close(self) -> None:
        self._answers.close()
        self._connection.close()
        try:
            self._process.wait(1)  # it ends by itself, unless a program does not
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


def _text(path: str) -> str:
    return Path(path).read_text(errors="surrogateescape") if os.path.exists(path) else ""


class Interpreters:
    """Those of this process: one for each environment in which several programs run."""

    def __init__(self) -> None:
        self._seen: Counter[frozenset[tuple[str, str]]] = Counter()
        self._warm: dict[frozenset[tuple[str, str]], Interpreter] = {}
        self.is_off = False
        """For the test that runs: does each program have an interpreter of its own?"""
        self.cpu = 0.0
        """CPU seconds of the programs that have ended. Those of the interpreters themselves are not among them."""

    def run(
        self, words: Sequence[str], cwd: Path, environment: Mapping[str, str], stdin: str, seconds: float
    ) -> subprocess.CompletedProcess[str] | None:
        """Run it to its end; None if it must have an interpreter of its own."""
        is_known = words[0] == sys.executable and (words[1:3] == _COMMAND or words[1].endswith(".py"))
        if HAS_CUDA or self.is_off or not is_known:
            return None
        key = frozenset((name, value) for name, value in environment.items() if name not in LATE)
        self._seen[key] += 1
        if key not in self._warm:
            if len(self._warm) >= _MOST or self._seen[key] < 2:
                return None
            self._warm[key] = Interpreter(environment)
        try:
            done, cpu = self._warm[key].run(words, cwd, environment, stdin, seconds)
        except subprocess.TimeoutExpired:
            del self._warm[key]
            raise
        self.cpu += cpu
        return done

    def close(self) -> None:
        """End them; a program that comes later has new ones."""
        while self._warm:
            self._warm.popitem()[1].close()


INTERPRETERS: Final = Interpreters()
