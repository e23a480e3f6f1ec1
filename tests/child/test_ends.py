"""The end of a process: nothing of ours keeps it, and what is left to do is done by another."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import msgspec
import pytest

from inspect_compile.dump import Dump, Writer, paths, under_way
from inspect_compile.dump.root import claim_part, make_root
from inspect_compile.errors import CommandError
from inspect_compile.facts import Frame, Graph, Launched, Run
from inspect_compile.finish import ensure_finished, is_finished
from tests.running import inspected, last_words, plain

LEAVES = """
import sys, time
from pathlib import Path
from inspect_compile.child import finishing
start = time.monotonic()
finishing.leave(Path(sys.argv[1]), Path(sys.argv[1]), ".")
print(time.monotonic() - start < 5, flush=True)
time.sleep(float(sys.argv[2]))
"""


def made(root: Path) -> Path:
    root.mkdir()
    writer = Writer(root)
    writer.run(Run(status="finished"))
    writer.add(Graph(graph="g", compile_id="0/0", kind="inference"))
    writer.flush()
    return root


def test_derived_files_are_made_once_the_process_has_ended(tmp_path: Path) -> None:
    """Whoever waits for its output waits for it alone, and a reader for the files."""
    root = made(tmp_path / "dump")
    program = subprocess.Popen(
        [sys.executable, "-c", LEAVES, root, "2"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert program.stdout is not None
    assert program.stdout.readline() == b"True\n"
    time.sleep(1)
    assert (root / paths.FINISHING).exists()
    assert not is_finished(Dump(root))
    assert program.communicate(timeout=60) == (b"", b"")
    assert ensure_finished(Dump(root))
    assert not (root / paths.FINISHING).exists()


def test_a_dump_that_is_removed_at_once_does_not_come_back(tmp_path: Path) -> None:
    root = made(tmp_path / "dump")
    program = subprocess.Popen([sys.executable, "-c", LEAVES, root, "1"], stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not (root / paths.FINISHING).exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    lock = os.open(root / paths.FINISHING, os.O_RDONLY)
    time.sleep(0.3)
    os.rename(root, tmp_path / "away")
    program.wait(60)
    under_way.wait(tmp_path / "away", 60)
    os.close(lock)
    assert not root.exists()


def test_nobody_waits_for_a_lock_that_nobody_has(tmp_path: Path) -> None:
    (tmp_path / paths.FINISHING).touch()
    began = time.monotonic()
    under_way.wait(tmp_path, 30)
    assert time.monotonic() - began < 5
    held = under_way.hold(tmp_path)
    with pytest.raises(OSError, match="temporarily"):
        under_way.hold(tmp_path)
    began = time.monotonic()
    under_way.wait(tmp_path, 0.2)
    assert time.monotonic() - began >= 0.2
    os.close(held)
    os.remove(tmp_path / paths.FINISHING)
    os.mkfifo(tmp_path / paths.FINISHING)
    under_way.wait(tmp_path, 30)


@pytest.mark.parametrize("there", [False, True])
@pytest.mark.parametrize("turn", range(10))
def test_of_starts_at_the_same_time_one_has_the_directory(tmp_path: Path, there: bool, turn: int) -> None:
    root = tmp_path / "some" / "dump"
    if there:
        root.mkdir(parents=True)
    gate, had = threading.Barrier(8), []

    def start() -> None:
        gate.wait()
        try:
            make_root(root)
            had.append(True)
        except CommandError as error:
            had.append("holds a dump already" not in str(error))

    threads = [threading.Thread(target=start) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(had) == [False] * 7 + [True]
    assert Dump(root).run.pid == os.getpid()


def test_a_process_that_becomes_another_program_has_a_part_for_each(tmp_path: Path) -> None:
    parts = [claim_part(tmp_path, None, 77) for _ in range(3)]
    assert [part.name for part in parts] == ["process_77", "process_77-2", "process_77-3"]
    assert [claim_part(tmp_path, 3, 77).name for _ in range(3)] == ["rank_3", "rank_3-pid_77", "rank_3-pid_77-2"]


LIMITED = """
import resource, signal, sys
from pathlib import Path
from inspect_compile.dump import Writer
from inspect_compile.facts import Launched, Run
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))
writer = Writer(Path(sys.argv[1]))
writer.run(Run(argv=("x" * int(sys.argv[2]),)))
for number in range(1000):
    writer.add(Launched(graph="g", kernel="k", calls=number))
    if number % 7 == 0:
        writer.flush()
writer.flush()
writer.text("text", "x" * 5000)
writer.text("short", "x" * 500)
print(writer.trouble)
"""


@pytest.mark.parametrize(
    ("length", "missing"), [(10, "measured.jsonl, text"), (5000, "run.json, measured.jsonl, text")]
)
def test_a_limit_of_the_size_of_files_costs_what_is_beyond_it(tmp_path: Path, length: int, missing: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, tmp_path / "dump", str(length)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    why = f"could not write below {tmp_path / 'dump'}: File too large"
    assert done.stdout == f"{why}; {missing} are incomplete or missing\n"
    Writer(tmp_path / "dump").run(Run())
    rows = Dump(tmp_path / "dump").rows(Launched)
    assert len(rows) > 10
    assert [row.calls for row in rows] == list(range(len(rows)))
    assert not (tmp_path / "dump" / "text").exists()
    assert (tmp_path / "dump" / "short").exists()


SAYS = """
import os, resource, signal, sys
from inspect_compile.child import exit_summary
signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
exit_summary.say(["inspect-compile: a line that is longer than a file may be"])
"""


def test_the_last_words_keep_to_it(tmp_path: Path) -> None:
    with open(tmp_path / "stderr", "wb") as stderr:
        done = subprocess.run([sys.executable, "-c", SAYS], stderr=stderr, check=False)
    assert done.returncode == 0 != -signal.SIGXFSZ
    assert (tmp_path / "stderr").read_bytes() == b""


def test_run_json_of_a_program_that_was_replaced(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from inspect_compile.child.place import REPLACED, close_earlier

    for name, pid in (("", os.getpid()), ("process_1", os.getpid()), ("process_2", 1)):
        (tmp_path / name).mkdir(exist_ok=True)
        Writer(tmp_path / name).run(Run(pid=pid, argv=("a.py",)))
    close_earlier(tmp_path)
    runs = [
        msgspec.json.decode((tmp_path / name / paths.RUN).read_bytes(), type=Run)
        for name in ("", "process_1", "process_2")
    ]
    assert [run.status for run in runs] == ["replaced", "replaced", "running"]
    assert runs[0].notes == (REPLACED,)


CHANGES_ROOT = """
import os, torch
print(torch.compile(lambda x: x + 1, backend="eager")(torch.ones(2)))
os.chroot("jail")
os.chdir("/")
print(torch.compile(lambda x: x + 2, backend="eager")(torch.ones(2)))
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may change a process's root directory")
def test_after_another_root_directory_nothing_is_written_and_that_is_said(tmp_path: Path) -> None:
    (tmp_path / "jail").mkdir()
    (tmp_path / "program.py").write_text(CHANGES_ROOT)
    alone, watched = plain(["program.py"], tmp_path), inspected(["program.py"], tmp_path)

    assert (watched.returncode, watched.stdout) == (alone.returncode, alone.stdout)
    assert last_words(watched.stderr)[-1] == (
        f"inspect-compile: the program changed its root directory (chroot): later facts are not in {tmp_path / 'dump'}"
    )
    assert not list((tmp_path / "jail").rglob(paths.RUN))
    assert Dump(tmp_path / "dump").rows(Frame)
