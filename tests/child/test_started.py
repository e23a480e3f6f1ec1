"""What programs that a watched process starts see of us: those that start no Python nothing, all others the run."""

import sys
from pathlib import Path

import pytest

from inspect_compile.child.unseen.commands_of_python import may_start_python
from tests.running import inspected, plain, run, without_last_words

ON = {"INSPECT_COMPILE": "1", "INSPECT_COMPILE_DUMPS": "dumps"}

PROGRAM = """
import multiprocessing, os, subprocess, sys, traceback
os.putenv("PUT", "by C")
def show(*words, **given):
    print(subprocess.run(*words, capture_output=True, text=True, check=True, **given).stdout, flush=True)
show(["env"])
show("env | grep -v ^_= ; echo $PUT; echo $0", shell=True)
show(["sh", "-c", "env"])
show(["nice", "env"], close_fds=False)
show(["env"], env=dict(os.environ))
show(["env"], env={"A": "b"})
show("env", executable="/usr/bin/env", cwd="/")
sys.stdout.flush()
os.spawnlp(os.P_WAIT, "env", "env")
if (pid := os.fork()) == 0:
    os.execvp("env", ["env", "-u", "OLDPWD"])
os.waitpid(pid, 0)
for wrong in (["a\\0b"], [""], ["/no/such/program"]):
    try:
        subprocess.run(wrong)
    except (OSError, ValueError):
        traceback.print_exc()
"""


@pytest.mark.parametrize("path", [None, "", "/some/path"])
def test_what_starts_no_python_sees_nothing_of_ours(path: str | None, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(PROGRAM)
    alone = plain(["script.py"], tmp_path, environment={"PYTHONPATH": path})
    watched = inspected(["script.py"], tmp_path, environment={"PYTHONPATH": path})
    assert alone.stdout.count("by C") > 5
    assert alone.stderr.count("Traceback") == 3
    assert watched.stdout == alone.stdout
    assert without_last_words(watched.stderr) == alone.stderr


def test_nor_does_it_where_recording_is_left_on(tmp_path: Path) -> None:
    """But what the user has set."""
    lines = PROGRAM.replace('show(["env"], env=dict(os.environ))', "")
    (tmp_path / "script.py").write_text(lines)
    alone = plain(["script.py"], tmp_path, environment={**ON, "INSPECT_COMPILE": "0"})
    watched = plain(["script.py"], tmp_path, environment=ON)
    assert watched.stdout == alone.stdout.replace("INSPECT_COMPILE=0", "INSPECT_COMPILE=1")
    assert watched.stderr == alone.stderr


STARTS = """
import os, subprocess, sys
child = "print('INSPECT_COMPILE={' in open('/proc/self/environ').read())"
with open("child.py", "w") as file:
    file.write(f"#!{sys.executable}\\n{child}\\n")
os.chmod("child.py", 0o755)
with open("starts.sh", "w") as file:
    file.write(f"{sys.executable} child.py\\n")
os.symlink(sys.executable, "interpreter")
def show(*words, **given):
    print(subprocess.run(*words, capture_output=True, text=True, check=True, **given).stdout, end="", flush=True)
show([sys.executable, "child.py"])
show([sys.executable, "child.py"], close_fds=False)
show(["./child.py"])
show(["./interpreter", "child.py"])
show(["bash", "starts.sh"])
show(["bash"], input="./child.py")
show(["nice", sys.executable, "child.py"])
show("echo; . ./starts.sh", shell=True)
show("A=1 $PY child.py", shell=True, env={**os.environ, "PY": sys.executable} if "as_alone" not in sys.argv else None)
show(["sh", "-c", "env > /dev/null && " + sys.executable + " child.py"])
sys.stdout.flush()
os.spawnv(os.P_WAIT, sys.executable, [sys.executable, "child.py"])
"""


def test_what_may_start_python_tells_it_of_the_run(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(STARTS)
    done = run([sys.executable, "script.py"], tmp_path, environment=ON)
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["True"] * 11


@pytest.mark.parametrize(
    ("words", "may"),
    [
        (("env",), False),
        (("g++", "-shared", "-I/usr/include/python3.11", "main.cpp", "-o", "main.so"), False),
        (("sh", "-c", "env | sort > out.txt"), False),
        (("git", "diff", "train.py"), False),
        (("sh", "-c", "nvidia-smi; env"), False),
        (("/bin/bash",), True),
        (("sh", "-ec", "exec python3 train.py"), True),
        (("sh", "-c", "$UNKNOWN train.py"), True),
        (("env", "A=1", "python", "train.py"), True),
        (("timeout", "5", "bash", "-c", "env"), True),
        (("srun", "-n", "2", "./job"), True),
        (("/opt/raylet", f"--python_worker_command={sys.executable} worker.py"), True),
        ((), True),
        (("env", "x" * 30_000), True),
    ],
)
def test_of_what_a_command_may_start(words: tuple[str, ...], may: bool) -> None:
    assert may_start_python(words, "/") == may
