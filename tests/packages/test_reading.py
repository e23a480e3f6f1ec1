"""A dump is read where there is no torch: each table, drawing, page and export, and the app; what compiles says so.

`make wheel-test` has the wheel's own environment do this, named by INSPECT_COMPILE_READER; elsewhere torch is hidden.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.conftest import DumpOf, run_sample

IS_REAL = "INSPECT_COMPILE_READER" in os.environ
READER = os.environ.get("INSPECT_COMPILE_READER", sys.executable)
HIDDEN = "" if IS_REAL else "torch triton sympy numpy"
PROGRAMS = Path(__file__).parent / "programs"
PROFILE = Path(__file__).parents[1] / "profiles" / "data" / "inference"
NOT_HERE = {"draw DUMP ranks": "not a distributed run", "draw DUMP roofline": "peaks of this CPU are not known"}
REFUSED = {
    "name DUMP no_such_kernel": "no kernel of this name",
    "replay DUMP": "torch is not installed here; to compile again: pip install 'inspect-compile[record]'",
    "numerics DUMP --causes": "nothing wrong or worse than eager is recorded",
    "import LOG": "torch is not installed here",
}


class Answer(NamedTuple):
    words: str
    status: int
    out: str
    err: str


class Read(NamedTuple):
    answers: list[Answer]
    panels: int
    loaded: list[str]


@pytest.fixture(scope="module")
def read(dump_of: DumpOf, tmp_path_factory: pytest.TempPathFactory, inductor_cache: Path) -> Read:
    dump = dump_of("missed_fusion").dump
    folder, log = tmp_path_factory.mktemp("read"), tmp_path_factory.mktemp("log")
    traced = {**os.environ, "TORCH_TRACE": str(log), "TORCHINDUCTOR_FX_GRAPH_CACHE": "0"}
    run_sample([sys.executable], "missed_fusion", (), log, inductor_cache, traced)
    of_the_dump: list[str | Path] = [dump, folder, log, PROFILE, "missed_fusion.py:22", "missed_fusion.py:24"]
    words: list[str | Path] = [READER, "-P", PROGRAMS / "read.py", *of_the_dump]
    variables = {**os.environ, "UNAVAILABLE": HIDDEN, "XDG_CACHE_HOME": str(folder / "cache")}
    done = subprocess.run(words, cwd=folder, env=variables, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    names = {str(folder / "dump"): "DUMP", str(log): "LOG"}
    shown = [[" ".join(names.get(word, word) for word in words.split()), *rest] for words, *rest in told["answers"]]
    return Read([Answer(*one) for one in shown], told["panels"], told["loaded"])


def test_every_reader_reads(read: Read) -> None:
    assert len(read.answers) > 100
    failed = {answer.words.partition(" -o ")[0]: answer for answer in read.answers if answer.status}
    failed.pop("doctor", None)
    unexpected = [
        f"{words}: {answer.err}"
        for words, answer in failed.items()
        if {**NOT_HERE, **REFUSED}.get(words, "no such words") not in answer.err
    ]
    assert unexpected == []
    assert failed.keys() >= REFUSED.keys()


def test_every_reader_says_something(read: Read) -> None:
    silent = [answer.words for answer in read.answers if not answer.out and not answer.err]
    assert [words for words in silent if not words.endswith("--json")] == []
    figures = next(answer for answer in read.answers if answer.words == "show DUMP kernels")
    assert "cpp_fused_native_layer_norm_0" in figures.out


def test_the_app_shows_its_panels(read: Read) -> None:
    assert read.panels == 9


def test_nothing_of_the_compiler_was_loaded(read: Read) -> None:
    assert read.loaded == []


@pytest.mark.skipif(not IS_REAL, reason="torch is hidden here, and its distribution is not")
def test_doctor_says_how_to_record(read: Read) -> None:
    (doctor,) = (answer for answer in read.answers if answer.words == "doctor")
    assert "not installed for this Python; pip install 'inspect-compile[record]'" in doctor.out
    assert "dumps made elsewhere open" in doctor.out
