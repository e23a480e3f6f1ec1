"""`run`: the program is what it is without us, and every way to ask wrongly has its line."""

import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from inspect_compile.dump import Dump
from tests.running import COMMAND, inspected, last_words, plain, run, without_last_words

LOOK_AROUND = """
import gc, inspect, os, signal, sys, threading, warnings
print(__name__, __file__, getattr(__spec__, "name", None), type(__loader__), __package__, sorted(globals()))
print(sys.argv, sys.orig_argv, sys.flags, sys.path, sys.exec_prefix)
print(os.getcwd(), sorted(os.environ.items()), os.umask(0))
print(len(inspect.stack()), [thread.name for thread in threading.enumerate()], len(warnings.filters))
print([getattr(handler := signal.getsignal(number), "__name__", handler) for number in sorted(signal.valid_signals())])
print(sys.stdin.encoding, sys.stdout.encoding, sys.stdout.errors, sys.stdout.line_buffering, sys.stdin.read())
print("sitecustomize" in sys.modules, [path for path in sys.path_importer_cache if "bootstrap" in path])
print(sys.excepthook, sys.displayhook, gc.isenabled(), gc.get_threshold(), sys.getrecursionlimit(), sys.flags)
print([name for name in sys.modules if name.partition(".")[0] in ("torch", "msgspec", "wrapt", "rich", "sympy")])
"""


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "looks" / "around.py"
    path.parent.mkdir()
    path.write_text(LOOK_AROUND)
    return path


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONPATH": None},
        {"PYTHONPATH": ""},
        {"PYTHONPATH": f"here{os.pathsep}{os.pathsep}/there"},
        {"LC_ALL": None, "LC_CTYPE": None, "LANG": "C"},
        {"LC_ALL": None, "LC_CTYPE": "C", "LANG": "C.UTF-8"},
        {"PYTHONUTF8": "1", "PYTHONSAFEPATH": "1", "PYTHONUNBUFFERED": "1"},
    ],
    ids=str,
)
def test_a_script_sees_what_it_sees_alone(script: Path, environment: dict[str, str | None]) -> None:
    words = ["around.py", "--dump", "own", "-m", "--", "-x", "", "é"]
    alone = plain(words, script.parent, environment=environment, stdin="line 1\nline 2")
    watched = inspected(
        words, script.parent, options=["--dump", "../dump"], environment=environment, stdin="line 1\nline 2"
    )
    assert watched.stdout == alone.stdout
    assert (watched.returncode, without_last_words(watched.stderr)) == (0, alone.stderr)


def test_a_module_sees_what_it_sees_alone(script: Path) -> None:
    words = ["-m", "looks.around", "--help", "-m"]
    cwd = script.parent.parent
    alone, watched = plain(words, cwd, stdin="x"), inspected(words, cwd, stdin="x")
    assert watched.stdout == alone.stdout
    assert (watched.returncode, without_last_words(watched.stderr)) == (0, alone.stderr)
    assert Dump(cwd / "dump").run.argv == ("-m", "looks.around", "--help", "-m")


def test_a_command_differs_in_the_door_alone(script: Path) -> None:
    """Launchers copy `os.environ` for their workers, so the bootstrap folder stays in it."""
    cwd = script.parent.parent
    words = [sys.executable, str(script), "a"]
    alone, watched = run(words, cwd), inspected(["--", *words], cwd)
    of = [{line for line in result.stdout.splitlines() if not line.startswith(str(cwd))} for result in (alone, watched)]
    assert of[0] == of[1]
    assert "INSPECT_COMPILE" in watched.stdout
    assert watched.returncode == 0


def test_standard_input_can_be_the_script(tmp_path: Path) -> None:
    code = "import sys; print(sys.argv, __name__)"
    alone, watched = plain(["-", "a"], tmp_path, stdin=code), inspected(["-", "a"], tmp_path, stdin=code)
    assert (watched.stdout, watched.returncode) == (alone.stdout, 0)


def test_run_may_be_left_out(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("import sys; print(sys.argv)")
    result = run([*COMMAND, "--dump", "dump", "script.py", "show"], tmp_path)
    assert result.stdout == "['script.py', 'show']\n"
    assert (tmp_path / "dump" / "run.json").is_file()


ENDS = {
    "returns": "print('x')",
    "exit 3": "import sys; sys.exit(3)",
    "exit text": "import sys; print('out'); sys.exit('text')",
    "exit 300": "raise SystemExit(300)",
    "_exit": "import os; os._exit(5)",
    "raises": "def f():\n    raise ValueError('first\\nsecond')\nf()",
    "raises a chain": "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise KeyError('k') from e",
    "syntax error": "def f(:\n    pass",
    "interrupted": "raise KeyboardInterrupt",
    "SIGTERM": "import os, signal; print('x', flush=True); os.kill(os.getpid(), signal.SIGTERM); signal.pause()",
    "SIGKILL": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "SIGINT": "import os, signal; os.kill(os.getpid(), signal.SIGINT); import time; time.sleep(9)",
    "abort": "import os; os.abort()",
    "thread raises": "import threading; t = threading.Thread(target=lambda: 1 / 0); t.start(); t.join(); print('on')",
    "thread exits": "import sys, threading; t = threading.Thread(target=lambda: sys.exit(4)); t.start()",
    "exit in atexit": "import atexit, sys; atexit.register(sys.exit, 7); print('x')",
    "atexit prints": "import atexit; atexit.register(print, 'later'); print('now')",
    "bad excepthook": "import sys; sys.excepthook = None; 1 / 0",
    "warnings are errors": "import warnings; warnings.simplefilter('error'); print('x')",
    "stdout replaced": "import io, sys; sys.stdout = io.StringIO(); print('x')",
    "stderr replaced": "import io, sys; sys.stderr = io.StringIO(); print('x', file=sys.stderr)",
    "stdout closed": "import sys; print('x'); sys.stdout.close()",
    "stderr closed": "import sys; sys.stderr.close()",
    "no streams": "import sys; sys.stdout = sys.stderr = None",
    "changes directory": "import os, tempfile; os.chdir(tempfile.gettempdir()); print(os.listdir is not None)",
    "cwd removed": "import os; os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone')",
    "recursion limit": "import sys; sys.setrecursionlimit(60); print('x')",
    "forks": "import os, sys\npid = os.fork()\nif pid == 0:\n    sys.exit(3)\nprint(os.waitpid(pid, 0)[1])",
    "becomes another": "import os, sys; os.execv(sys.executable, [sys.executable, '-c', 'raise SystemExit(6)'])",
    "daemon thread": "import threading, time; threading.Thread(target=time.sleep, args=(60,), daemon=True).start()",
    "meta_path emptied": "import sys; sys.meta_path.clear(); print('x')",
    "modules emptied": "import sys; sys.modules.clear()",
}


@pytest.mark.parametrize("code", ENDS.values(), ids=ENDS.keys())
def test_a_program_ends_as_it_would_alone(code: str, tmp_path: Path) -> None:
    (tmp_path / "ends.py").write_text(code)
    alone, watched = plain(["ends.py"], tmp_path), inspected(["ends.py"], tmp_path)
    assert watched.returncode == alone.returncode
    assert watched.stdout == alone.stdout
    assert without_last_words(watched.stderr) == alone.stderr
    assert len(last_words(watched.stderr)) <= 2


@pytest.mark.parametrize(
    ("code", "status", "exception", "exit_code"),
    [
        ("pass", "finished", None, None),
        ("import sys; sys.exit(3)", "finished", None, None),
        ("raise ValueError('why')", "raised", "ValueError: why", 1),
        ("raise KeyboardInterrupt", "raised", "KeyboardInterrupt", 130),
        ("import os; os._exit(0)", "running", None, None),
    ],
)
def test_run_json_tells_the_end(
    code: str, status: str, exception: str | None, exit_code: int | None, tmp_path: Path
) -> None:
    (tmp_path / "ends.py").write_text(code)
    inspected(["ends.py", "a"], tmp_path)
    account = Dump(tmp_path / "dump").run
    assert (account.status, account.exception, account.exit_code) == (status, exception, exit_code)
    assert (account.argv, account.cwd) == (("ends.py", "a"), str(tmp_path))


def test_run_json_holds_no_variable_that_is_not_about_compiling(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("")
    variables = {
        "TORCH_LOGS": "fusion",
        "OMP_NUM_THREADS": "2",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "HF_TOKEN": "secret",
        "TORCH_HUB_TOKEN": "secret",
    }
    inspected(["script.py"], tmp_path, environment=variables)
    environment = Dump(tmp_path / "dump").run.environment
    assert environment.items() >= {"TORCH_LOGS": "fusion", "OMP_NUM_THREADS": "2"}.items()
    assert "secret" not in (tmp_path / "dump" / "run.json").read_text()


def test_the_last_words_say_why_there_is_nothing(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("print('x')")
    result = inspected(["script.py"], tmp_path)
    assert last_words(result.stderr) == [
        "inspect-compile: nothing to show: the program never imported torch",
        "inspect-compile: recorded in dump",
    ]


def test_last_words_come_after_what_was_printed(tmp_path: Path) -> None:
    code = "import atexit, sys\natexit.register(print, 'out 2')\nprint('out 1')\nsys.stderr.write('err\\n')"
    (tmp_path / "script.py").write_text(code)
    words = [*COMMAND, "run", "--no-tui", "--dump", "dump", "script.py"]
    result = subprocess.run(
        words, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=True
    )
    lines = result.stdout.splitlines()
    assert sorted(lines[:3]) == ["err", "out 1", "out 2"]
    assert [line.startswith("inspect-compile: ") for line in lines[3:]] == [True, True]


def in_shell(command: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(["bash", "-c", command], cwd=cwd, capture_output=True, text=True, check=False, timeout=60)


@pytest.mark.parametrize("redirection", ["2>&-", ">&-", "<&-", ">&- 2>&- <&-", "2>/dev/full", ">/dev/full", "| true"])
def test_streams_that_are_shut(redirection: str, tmp_path: Path) -> None:
    """A file that takes the number of a closed stderr is the program's, and so is a reader that has gone."""
    (tmp_path / "script.py").write_text(
        "import time\nfile = open('written', 'w')\nprint('x' * 9)\nfile.write('own')\ntime.sleep(0.3)\n"
    )
    tail = f"script.py {redirection}; echo ${{PIPESTATUS[0]}}"
    alone = in_shell(f"{sys.executable} {tail}", tmp_path)
    written = (tmp_path / "written").read_text()
    watched = in_shell(f"{' '.join(COMMAND)} run --no-tui --dump dump {tail}", tmp_path)
    assert (tmp_path / "written").read_text() == written
    assert watched.stdout == alone.stdout
    assert without_last_words(watched.stderr) == alone.stderr


def test_a_stderr_without_reader_does_not_change_the_end(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        "import signal, time; signal.signal(signal.SIGPIPE, signal.SIG_DFL); time.sleep(0.3)"
    )
    result = in_shell(
        f"{{ {' '.join(COMMAND)} run --no-tui --dump dump script.py 2>&3; echo $? >status; }} 3>&1 >/dev/null | true",
        tmp_path,
    )
    assert result.returncode == 0
    assert (tmp_path / "status").read_text() == "0\n"


def test_modules_beside_the_script_are_its_own(tmp_path: Path) -> None:
    names = ("codegen", "lowering", "inspector", "tui", "dump", "facts", "child", "rich", "graphviz", "sitecustomize_")
    for name in names:
        (tmp_path / f"{name}.py").write_text(f"print({name!r})")
    (tmp_path / "script.py").write_text(f"import {', '.join(names)}\nprint(codegen.__file__)")
    alone, watched = plain(["script.py"], tmp_path), inspected(["script.py"], tmp_path)
    assert (watched.stdout, watched.returncode) == (alone.stdout, 0)
    assert str(tmp_path / "codegen.py") in watched.stdout


def test_paths_that_are_no_ascii(tmp_path: Path) -> None:
    folder = tmp_path / "größe \udcff"
    folder.mkdir()
    (folder / "skrípt.py").write_text("import sys; print(ascii(sys.argv))")
    words = ["skrípt.py", "\udcfe"]
    alone, watched = plain(words, folder), inspected(words, folder)
    assert (watched.stdout, watched.returncode) == (alone.stdout, 0)
    assert Dump(folder / "dump").run.argv == ("skrípt.py", "\\udcfe")


@pytest.mark.parametrize(
    "code",
    [
        "import sys; sys.users_own = 'ran'",
        "raise ValueError('broken')",
        "raise ImportError('broken')",
        "import no_such_module",
        "raise SystemExit(9)",
        "import os; os.environ['SEEN'] = str('INSPECT_COMPILE' in os.environ)",
    ],
)
def test_the_users_sitecustomize_still_runs(code: str, tmp_path: Path) -> None:
    (tmp_path / "site").mkdir()
    (tmp_path / "site" / "sitecustomize.py").write_text(code)
    (tmp_path / "script.py").write_text(
        "import os, sys\nprint(getattr(sys, 'users_own', None), os.environ.get('SEEN'))\n"
        "print(getattr(sys.modules.get('sitecustomize'), '__file__', None))"
    )
    environment = {"PYTHONPATH": str(tmp_path / "site")}
    alone = plain(["script.py"], tmp_path, environment=environment)
    watched = inspected(["script.py"], tmp_path, environment=environment)
    assert watched.stdout == alone.stdout
    # The interpreter runs sitecustomize for `python -m inspect_compile` as well, and complains about it there, too.
    assert without_last_words(watched.stderr) in (alone.stderr, alone.stderr * 2)
    assert watched.returncode == alone.returncode


SPAWN = """
import multiprocessing
def f():
    exec({code!r})
if __name__ == "__main__":
    process = multiprocessing.get_context("spawn").Process(target=f)
    process.start()
    process.join()
"""
WATCHED = (
    "import importlib, os\n"
    "print('ImportWatch' in importlib._bootstrap._ModuleLockManager.__exit__.__qualname__, sorted(os.environ))"
)


@pytest.mark.parametrize(
    "start",
    [
        f"import subprocess, sys; subprocess.run([sys.executable, '-c', {WATCHED!r}])",
        f"import os, shlex, sys; os.system(shlex.join([sys.executable, '-c', {WATCHED!r}]))",
        f"import os, sys; os.execv(sys.executable, [sys.executable, '-c', {WATCHED!r}])",
        SPAWN.format(code=WATCHED),
    ],
    ids=["subprocess", "system", "exec", "spawn"],
)
def test_children_are_watched_and_see_a_plain_environment(start: str, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(start)
    alone, watched = plain(["script.py"], tmp_path), inspected(["script.py"], tmp_path)
    assert watched.stdout == alone.stdout.replace("False", "True", 1)
    # One process speaks at the end, the first; one that has become another program has no end of its own.
    assert len(last_words(watched.stderr)) == 2


def test_a_child_with_an_environment_of_its_own_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        f"import os, subprocess, sys; subprocess.run([sys.executable, '-c', {WATCHED!r}], env=dict(os.environ))"
    )
    assert inspected(["script.py"], tmp_path).stdout == plain(["script.py"], tmp_path).stdout


def test_a_command_hands_the_door_on_in_a_copied_environment(tmp_path: Path) -> None:
    (tmp_path / "launcher.py").write_text(
        f"import os, subprocess, sys; subprocess.run([sys.executable, '-c', {WATCHED!r}], env=dict(os.environ))"
    )
    result = inspected(["--", sys.executable, "launcher.py"], tmp_path)
    assert result.stdout.startswith("True ")


def test_a_command_need_not_be_python(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("print('x')")
    code = f"{sys.executable} script.py; {sys.executable} script.py; exit 4"
    result = inspected(["--", "bash", "-c", code], tmp_path)
    assert (result.stdout, result.stderr, result.returncode) == ("x\nx\n", "", 4)
    account = Dump(tmp_path / "dump").run
    assert account.argv == ("bash", "-c", code)
    assert account.notes == ("no Python process of this run has been recorded yet",)


def test_signals_of_a_command_are_as_a_shell_starts_it(tmp_path: Path) -> None:
    words = ["sh", "-c", "grep Sig /proc/self/status"]
    if not Path("/proc/self/status").exists():
        pytest.skip("needs /proc")
    assert inspected(["--", *words], tmp_path).stdout == run(words, tmp_path).stdout


def test_a_run_inside_a_run_has_a_dump_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        "import os; print(os.environ.get('PYTHONPATH'), 'INSPECT_COMPILE' in os.environ)"
    )
    inner = [*COMMAND, "run", "--no-tui", "--dump", "inner", "script.py"]
    result = inspected(["--", *inner], tmp_path, environment={"PYTHONPATH": None})
    assert result.stdout == "None False\n"
    assert Dump(tmp_path / "inner").run.argv == ("script.py",)


def test_ctrl_c_reaches_the_program(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        "import time\ntry:\n    print('ready', flush=True)\n    time.sleep(60)\n"
        "except KeyboardInterrupt:\n    print('caught')"
    )
    process = subprocess.Popen(
        [*COMMAND, "run", "--no-tui", "--dump", "dump", "script.py"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    stdout, _ = process.communicate(timeout=60)
    assert (stdout, process.returncode) == ("caught\n", 0)
    assert Dump(tmp_path / "dump").run.pid == process.pid


def refusal(result: subprocess.CompletedProcess[str], exit_code: int = 125) -> str:
    """The one line of a command that did nothing."""
    assert result.returncode == exit_code
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("inspect-compile: ")
    return result.stderr


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ([], "no program given"),
        (["-m"], "no program given"),
        (["--"], "no program given"),
        (["nothing.py"], "nothing.py: no such script here"),
        (["--", "no-such-command-here"], "no-such-command-here: no such command"),
        (["--", "./script.py"], "./script.py: is not an executable file"),
        (["--dump", "new", "--", "./no-program"], "/no-program: can't be started (Exec format error)"),
        (["--no-such-option", "script.py"], "unrecognized arguments: --no-such-option"),
        (["--graphs", "0", "script.py"], "argument --graphs: '0' is not a number; write 1, 2, …"),
        (["--max-dump", "much", "script.py"], "'much' is not a size"),
        (["--cache", "no", "script.py"], "invalid choice: 'no'"),
        (["--dump", "file", "script.py"], "file: it is a file"),
        (["--dump", "file/below", "script.py"], "file/below: can't be written (Not a directory)"),
        (["--dump", "full", "script.py"], "full: not empty, and not a dump (something is in it)"),
        (["--dump", "dumped", "script.py"], "dumped: holds a dump already"),
        (["--dump", "/proc/here", "script.py"], "/proc/here: can't be written"),
    ],
)
def test_what_cannot_be_run_is_refused_in_one_line(words: list[str], says: str, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("print('ran')")
    (tmp_path / "file").write_text("")
    (tmp_path / "no-program").write_text("text")
    (tmp_path / "no-program").chmod(0o755)
    (tmp_path / "new").mkdir()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "something").write_text("")
    (tmp_path / "dumped").mkdir()
    (tmp_path / "dumped" / "run.json").write_text("{}")
    before = sorted(tmp_path.rglob("*"))
    assert says in refusal(run([*COMMAND, "run", *words], tmp_path))
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_directory_that_may_not_be_written_is_refused(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("print('ran')")
    (tmp_path / "locked").mkdir(mode=0o500)
    result = run([*COMMAND, "run", "--dump", "locked", "script.py"], tmp_path)
    assert "locked: can't be written" in refusal(result)


@pytest.mark.parametrize(("word", "meant"), [("shwo", "show"), ("opne", "open"), ("doktor", "doctor")])
def test_a_mistyped_command_is_recognized(word: str, meant: str, tmp_path: Path) -> None:
    assert f"is the command `inspect-compile {meant}` meant?" in refusal(run([*COMMAND, word], tmp_path))


def test_the_default_place_is_torchs(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("import os; print(os.getpid())")
    result = run([*COMMAND, "--no-tui", "script.py"], tmp_path)
    (root,) = (tmp_path / "torch_compile_debug").iterdir()
    assert root.name.startswith("run_")
    assert root.name.endswith(f"-pid_{result.stdout.strip()}")
    assert last_words(result.stderr)[1].endswith(f" torch_compile_debug/{root.name}")


def test_an_empty_directory_is_taken(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("")
    (tmp_path / "dump").mkdir()
    assert inspected(["script.py"], tmp_path).returncode == 0
    assert json.loads((tmp_path / "dump" / "run.json").read_text())["status"] == "finished"
