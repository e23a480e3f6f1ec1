"""What each process of a run leaves in the file that all of them append to."""

import sys
from pathlib import Path

import pytest

from inspect_compile.child import life
from inspect_compile.dump import Dump
from inspect_compile.facts import ProcessEnd, ProcessLife, Stretch
from tests.running import inspected, last_words, without_last_words

HELPER = """
import time
time.sleep(0.15)
import decimal, graphlib, xml.dom.minidom
start = time.thread_time()
while time.thread_time() < start + 0.15:
    pass
print("helped")
"""
STARTS = """
import subprocess, sys
subprocess.run([sys.executable, "helper.py", "secret"], check=True)
"""
FORKS = """
import os, time
if os.fork() == 0:
    time.sleep(0.15)
    import decimal
    raise SystemExit
os.wait()
"""
REMOVES = """
import shutil, subprocess, sys
shutil.rmtree("dump")
print(subprocess.run([sys.executable, "-c", "print(3)"], capture_output=True))
"""


def lives(dump: Path) -> dict[str, list[ProcessLife]]:
    found: dict[str, list[ProcessLife]] = {}
    for row in Dump(dump).rows(ProcessLife):
        found.setdefault(row.name, []).append(row)
    return found


def test_a_process_that_compiles_nothing(tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text(HELPER)
    (tmp_path / "script.py").write_text(STARTS)
    result = inspected(["script.py"], tmp_path)
    assert (result.stdout, result.returncode) == ("helped\n", 0)
    assert without_last_words(result.stderr) == ""
    found = lives(tmp_path / "dump")
    (*_, first), (*_, helper) = found["script.py"], found["helper.py"]
    assert (first.is_last, helper.is_last, helper.parent_pid) == (True, True, first.pid)
    assert first.started <= helper.started <= helper.last <= first.last
    slept, worked = (row for one in found["helper.py"] for row in one.stretches)
    assert slept.main < slept.seconds
    assert slept.start + slept.seconds <= worked.start + 0.001  # it is rounded
    assert worked.main >= 0.1
    waited = max((row for one in found["script.py"] for row in one.stretches), key=lambda row: row.children)
    assert waited.children >= 0.1
    assert waited.start <= helper.started
    assert waited.start + waited.seconds >= helper.last
    if sys.platform == "linux":
        assert helper.born is not None
        assert helper.born <= helper.started
        assert [look.waits_in for row in found["helper.py"] for look in row.parent][-1] in ("do_wait", "")
    assert "secret" not in (tmp_path / "dump" / life.FILE).read_text()
    assert Dump(tmp_path / "dump").other_processes == ()


ORPHAN = """
import os, sys, time
print("started", flush=True)
while os.getppid() == int(sys.argv[1]):
    time.sleep(0.01)
"""
LEAVES_AN_ORPHAN = """
import os, subprocess, sys
read, write = os.pipe()
if os.fork() == 0:
    subprocess.Popen([sys.executable, "orphan.py", str(os.getpid())], stdout=write)
    os.read(read, 8)
    os._exit(0)
os.close(write)
os.wait()
while os.read(read, 8):
    pass
"""


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells what the parent does")
def test_a_process_whose_parent_is_gone_sees_no_other(tmp_path: Path) -> None:
    (tmp_path / "orphan.py").write_text(ORPHAN)
    (tmp_path / "script.py").write_text(LEAVES_AN_ORPHAN)
    assert inspected(["script.py"], tmp_path).returncode == 0
    (orphan,) = lives(tmp_path / "dump")["orphan.py"]
    assert orphan.is_last
    assert len(orphan.parent) == 1


def test_a_fork_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(FORKS)
    assert inspected(["script.py"], tmp_path).returncode == 0
    assert {row.pid for rows in lives(tmp_path / "dump").values() for row in rows} == {Dump(tmp_path / "dump").run.pid}


def test_a_dump_that_is_gone_is_not_made_anew_by_others(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(REMOVES)
    result = inspected(["script.py"], tmp_path)
    assert "returncode=0, stdout=b'3\\n', stderr=b''" in result.stdout
    assert last_words(result.stderr)


def test_what_a_process_with_a_part_did_meanwhile_is_in_it(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        "import time, torch\n@torch.compile(backend='eager')\ndef f(x):\n    return x + 1\nf(torch.ones(2))\n"
        "time.sleep(0.2)\n"
    )
    inspected(["script.py"], tmp_path, options=["--level", "facts"])
    dump = Dump(tmp_path / "dump")
    last = dump.rows(Stretch)[-1]
    assert last.main < last.seconds
    assert last.queued is None or 0.0 <= last.queued <= last.seconds
    told_before = {span.start for row in dump.rows(ProcessLife) for span in row.stretches}
    assert told_before.isdisjoint(row.start for row in dump.rows(Stretch))


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the left-behind process is told by Linux alone")
def test_when_a_process_was_gone(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("import torch\n@torch.compile\ndef f(x):\n    return x + 1\nf(torch.ones(2))\n")
    inspected(["script.py"], tmp_path)
    dump = Dump(tmp_path / "dump")
    (end,) = dump.rows(ProcessEnd)
    assert end.pid == dump.run.pid
    assert end.at >= dump.rows(ProcessLife)[-1].last


def test_the_file_has_a_limit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / life.FILE
    monkeypatch.setattr(life, "_MOST_BYTES", 40)
    for _ in range(9):
        life.append(str(path), {"pid": 1})
    assert path.read_text() == '{"pid": 1}\n' * 3


@pytest.mark.parametrize(
    ("words", "name"),
    [
        (["python", "-u", "a/serve.py", "--token", "x"], "serve.py"),
        (["python", "/a/torch/_inductor/compile_worker/__main__.py", "--pickler=x"], "compile_worker"),
        (["python", "-X", "dev", "-m", "pkg.main", "x"], "-m pkg.main"),
        (["python", "-c", "print('x')"], "-c"),
        (["python", "-c", "from multiprocessing.spawn import spawn_main; spawn_main()"], "multiprocessing, spawned"),
        (["python", "\udcff.py"], "\\udcff.py"),
        (["python"], ""),
    ],
)
def test_the_name_of_a_process_has_no_arguments(words: list[str], name: str) -> None:
    assert life._name(words) == name


def test_a_process_of_multiprocessing_has_its_name(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(
        "import multiprocessing\nimport torch\nif __name__ == '__main__':\n"
        "    worker = multiprocessing.get_context('spawn').Process(target=print, name='EngineCore')\n"
        "    worker.start()\n    worker.join()\n"
    )
    assert inspected(["script.py"], tmp_path).returncode == 0
    names = lives(tmp_path / "dump").keys()
    assert {"script.py", "EngineCore"} <= names
    assert "multiprocessing, spawned" not in names


def test_a_process_that_is_the_run_itself_sees_no_parent(tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("")
    inspected(["script.py"], tmp_path)
    (row,) = Dump(tmp_path / "dump").rows(ProcessLife)
    assert (row.parent, row.pid) == ((), Dump(tmp_path / "dump").run.pid)
