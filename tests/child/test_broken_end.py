"""What ends a process cannot be imported, or finds no room: the program ends as alone, and run.json says so."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import inspect_compile
from inspect_compile.child.imports import FoundAsAtStart
from inspect_compile.dump import Dump
from tests.running import COMMAND, inspected, last_words, plain, run, without_last_words

PACKAGE = Path(inspect_compile.__file__).resolve().parent
SHADOWS = ("msgspec", "shlex", "select", "resource", "datetime", "subprocess", "traceback", "contextlib", "inspector")

ENDS = "print('at the end')\nraise SystemExit(3)\n"
PROGRAMS = {
    "no ending": "import sys\nsys.modules['inspect_compile.child.ending'] = None\n",
    "no last words": "import sys\nsys.modules['inspect_compile.child.exit_summary'] = None\n",
    "no facts": "import sys\nsys.modules['inspect_compile.facts'] = None\n",
    "no msgspec": "import sys\nsys.modules['msgspec'] = None\n",
    "a finder that raises": """
import sys
class Finder:
    def find_spec(self, *_):
        raise RuntimeError("found")
sys.meta_path.insert(0, Finder())
""",
    "no path": "import sys\nsys.path[:] = []\nsys.meta_path[:] = []\n",
    "little recursion": "import sys\nsys.setrecursionlimit(30)\n",
    "few descriptors": """
import os, resource
resource.setrlimit(resource.RLIMIT_NOFILE, (16, 4096))
try:
    while True:
        os.open("/dev/null", os.O_RDONLY)
except OSError as error:
    print(error.strerror)
""",
    "no descriptor": """
import os, resource
resource.setrlimit(resource.RLIMIT_NOFILE, (24, 24))
try:
    while True:
        os.open("/dev/null", os.O_RDONLY)
except OSError as error:
    print(error.strerror)
""",
    "no large files": """
import resource, signal
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
""",
    "little memory": """
import resource
used = int(next(line for line in open("/proc/self/status") if line.startswith("VmSize")).split()[1]) << 10
resource.setrlimit(resource.RLIMIT_AS, (used, resource.getrlimit(resource.RLIMIT_AS)[1]))
""",
}
TOLD_IN_FULL = {
    "a finder that raises",
    "no path",
    "little recursion",
    "few descriptors",
    "no large files",
    "little memory",
}


@pytest.mark.parametrize("kind", PROGRAMS)
def test_the_end_is_recorded_whatever_the_program_did(kind: str, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(PROGRAMS[kind] + ENDS)
    alone, watched = plain(["script.py"], tmp_path), inspected(["script.py"], tmp_path)

    assert (watched.returncode, watched.stdout) == (alone.returncode, alone.stdout)
    assert alone.returncode == 3
    assert without_last_words(watched.stderr) == alone.stderr
    recorded = Dump(tmp_path / "dump").run
    assert recorded.status == "finished"
    assert any(note.startswith("the end of the program is not recorded in full: ") for note in recorded.notes) == (
        kind not in TOLD_IN_FULL
    )
    assert bool(last_words(watched.stderr)) == (kind in {*TOLD_IN_FULL, "no ending"})


@pytest.mark.parametrize("kind", ["no ending", "no descriptor"])
@pytest.mark.parametrize("is_read", [False, True])
def test_a_pipe_in_the_place_of_the_record_keeps_nobody_waiting(kind: str, is_read: bool, tmp_path: Path) -> None:
    """Neither one that nobody has open, nor one that the program keeps open and never writes to."""
    pipe = "import os\nos.remove('dump/run.json')\nos.mkfifo('dump/run.json')\n"
    kept = "kept = os.open('dump/run.json', os.O_RDWR)\n" if is_read else ""
    (tmp_path / "script.py").write_text(pipe + kept + PROGRAMS[kind] + ENDS)
    watched = inspected(["script.py"], tmp_path)

    assert watched.returncode == 3
    assert watched.stdout.endswith("at the end\n")


def test_modules_of_the_program_with_names_of_those_that_we_need(tmp_path: Path) -> None:
    for name in SHADOWS:
        (tmp_path / f"{name}.py").write_text(f"print('the program has a {name}')\nraise ImportError\n")
    (tmp_path / "script.py").write_text(ENDS)
    command = [sys.executable, "-P", "-m", "inspect_compile", "run", "--no-tui", "--dump", "dump", "script.py"]
    watched = run(command, tmp_path)

    assert (watched.returncode, watched.stdout) == (3, "at the end\n")
    assert Dump(tmp_path / "dump").run.notes == ("nothing to record: torch was never imported",)
    assert len(last_words(watched.stderr)) == 2


def test_files_of_ours_that_are_gone(tmp_path: Path) -> None:
    """As after an update of the package while the program runs."""
    copy = tmp_path / "packages"
    shutil.copytree(PACKAGE, copy / "inspect_compile", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "script.py").write_text(f"import shutil\nshutil.rmtree({str(copy)!r})\nprint('at the end')\n1 / 0\n")
    done = subprocess.run(
        [*COMMAND, "run", "--no-tui", "--dump", "dump", "script.py"],
        cwd=tmp_path,
        env={"PYTHONPATH": str(copy), "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )

    assert (done.returncode, done.stdout) == (1, "at the end\n")
    assert done.stderr.endswith("ZeroDivisionError: division by zero\n")
    recorded = Dump(tmp_path / "dump").run
    assert (recorded.status, recorded.exception) == ("raised", "ZeroDivisionError")
    assert recorded.notes[-1].startswith("the end of the program is not recorded in full: ImportError: ")


def test_a_program_that_compiled(tmp_path: Path, inductor_cache: Path) -> None:
    """What is pending is written all the same."""
    (tmp_path / "script.py").write_text(
        "import sys, torch\n"
        "torch.compile(lambda x: x + 1, backend='eager')(torch.ones(2))\n"
        f"sys.modules['inspect_compile.child.ending'].end = None\n{ENDS}"
    )
    done = inspected(["script.py"], tmp_path, environment={"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)})

    assert (done.returncode, done.stdout) == (3, "at the end\n")
    (told,) = done.stderr.splitlines()
    assert told.startswith("inspect-compile: the end of the program is not recorded in full: TypeError: ")
    dump = Dump(tmp_path / "dump")
    assert dump.run.status == "finished"
    assert told.endswith(dump.run.notes[-1])
    from inspect_compile.facts import Frame

    assert dump.rows(Frame)


def test_an_interpreter_within_the_process_is_not_the_program(tmp_path: Path) -> None:
    pytest.importorskip("_xxsubinterpreters")
    (tmp_path / "script.py").write_text(
        "import json, _xxsubinterpreters as all\n"
        "all.run_string(own := all.create(), 'print(1, flush=True)')\nall.destroy(own)\n"
        "print(json.load(open('dump/run.json'))['status'])\n"
    )
    done = inspected(["script.py"], tmp_path)

    assert (done.stdout, len(last_words(done.stderr))) == ("1\nrunning\n", 2)


def test_other_threads_find_modules_as_ever(tmp_path: Path) -> None:
    import threading

    (tmp_path / "only_here.py").write_text("")
    found: list[object] = []
    with FoundAsAtStart([str(tmp_path)]) as _:
        finder = sys.meta_path[0]
        thread = threading.Thread(target=lambda: found.append(finder.find_spec("only_here", None)))
        thread.start()
        thread.join()
        found.append(finder.find_spec("only_here", None))
    assert found[0] is None
    assert found[1] is not None
    assert finder not in sys.meta_path
