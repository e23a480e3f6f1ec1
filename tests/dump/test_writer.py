"""What reaches the disk when the disk refuses, or is taken away."""

import os
import shutil
from pathlib import Path

from inspect_compile.dump import Dump, Writer
from inspect_compile.facts import Remark, Run
from tests.running import plain

REMARK = Remark(graph="", kind="analysis", code="a code", message="told")

_FULL = """
import resource, sys
from pathlib import Path
from inspect_compile.dump import Writer
from inspect_compile.facts import Remark, Run

writer = Writer(Path("dump"))
writer.run(Run(status="running"))
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
for number in range(40):
    writer.add(Remark(graph="", kind="analysis", code="full", message=str(number)))
writer.flush()
writer.text("whole.txt", "short")
writer.text("half.txt", "too long" * 1000)
writer.run(Run(status="finished", notes=("too long" * 1000,)))
print(writer.trouble)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
writer.add(Remark(graph="", kind="analysis", code="free", message="there is room again"))
writer.flush()
"""


def test_a_disk_without_room_gets_whole_lines_and_whole_files(tmp_path: Path) -> None:
    done = plain(["-c", _FULL, "1001"], tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("could not write below dump: File too large")

    dump = Dump(tmp_path / "dump")
    *full, free = dump.rows(Remark)
    assert [row.message for row in full] == [str(number) for number in range(len(full))]
    assert 0 < len(full) < 40
    assert free.code == "free"
    assert dump.damaged == 0
    assert dump.run.status == "running"
    assert sorted(path.name for path in dump.root.iterdir()) == ["remarks.jsonl", "run.json", "whole.txt"]


def test_a_pipe_in_the_place_of_a_file_does_not_keep_the_program_waiting(tmp_path: Path) -> None:
    for name in (f"{Remark.table}.jsonl", "whole.txt"):
        os.mkfifo(tmp_path / name)
    writer = Writer(tmp_path)
    writer.add(REMARK)
    writer.flush()
    writer.text("whole.txt", "text")
    assert writer.trouble is not None
    assert "No such device or address; remarks.jsonl, whole.txt are incomplete or missing" in writer.trouble


def test_a_directory_that_is_removed_is_made_again_and_that_is_said(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "dump")
    writer.run(Run())
    writer.add(REMARK)
    writer.flush()
    assert writer.trouble is None
    shutil.rmtree(writer.root)

    writer.add(REMARK)
    writer.flush()
    writer.run(Run(status="finished"))

    assert writer.trouble == f"{writer.root} was removed while the program ran; earlier facts are not in it"
    assert len(Dump(writer.root).rows(Remark)) == 1


def test_a_row_that_is_no_json_costs_itself_alone_and_that_is_said(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "dump")
    writer.run(Run())
    for message in ("before", "half a character \udc80", "after"):
        writer.add(Remark(graph="", kind="analysis", code="a code", message=message))
    writer.flush()

    assert [row.message for row in Dump(writer.root).rows(Remark)] == ["before", "after"]
    assert writer.trouble is not None
    assert writer.trouble.startswith("a row of remarks could not be written: 'utf-8' codec")


_NO_DESCRIPTORS = """
import os, resource, sys
from pathlib import Path
from inspect_compile.dump import Writer
from inspect_compile.facts import Remark, Run

writer = Writer(Path("dump"), bytes_limit=100_000)
writer.run(Run(status="running"))

def told(message):
    writer.add(Remark(graph="", kind="analysis", code="told", message=message))
    writer.flush()

told("before")
resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))
kept = []
try:
    while True:
        kept.append(os.open("/dev/null", os.O_RDONLY))
except OSError:
    pass
told("while 1")
told("while 2")
writer.text("torchinductor/g/a.txt", "a text")
writer.run(Run(status="raised"))
writer.run(Run(status="finished"))
print(writer.trouble)
for descriptor in kept if sys.argv[1] == "while" else ():
    os.close(descriptor)
told("after")
print(writer.trouble)
"""


def test_what_finds_no_descriptor_is_written_as_soon_as_there_is_one(tmp_path: Path) -> None:
    done = plain(["-c", _NO_DESCRIPTORS, "while"], tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    why = "could not write below dump: Too many open files"
    missing = "remarks.jsonl, run.json, torchinductor/g/a.txt are incomplete or missing"
    assert done.stdout.splitlines() == [f"{why}; {missing}", "None"]
    dump = Dump(tmp_path / "dump")
    assert [row.message for row in dump.rows(Remark)] == ["before", "while 1", "while 2", "after"]
    assert (dump.run.status, dump.damaged) == ("finished", 0)
    assert (dump.root / "torchinductor/g/a.txt").read_text() == "a text"


def test_what_never_finds_one_is_missing_and_named(tmp_path: Path) -> None:
    done = plain(["-c", _NO_DESCRIPTORS, "end"], tmp_path)

    assert (done.returncode, done.stderr) == (0, "")
    first, last = done.stdout.splitlines()
    assert first == last
    assert last.endswith("remarks.jsonl, run.json, torchinductor/g/a.txt are incomplete or missing")
    dump = Dump(tmp_path / "dump")
    assert [row.message for row in dump.rows(Remark)] == ["before"]
    assert (dump.run.status, dump.damaged) == ("running", 0)
