"""Profiles that are damaged, made up or endless: read, or refused in one line; never a traceback, never a long wait."""

import gzip
import json
import os
import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from inspect_compile.commands import main
from inspect_compile.dump import Dump
from tests.handmade import ended, graph, made
from tests.profiles import recordings

Capture = pytest.CaptureFixture[str]

KERNELS = (
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL"
    "(start, end, demangledName, deviceId, streamId, correlationId, globalPid, gridX, blockX, graphNodeId)"
)
STRINGS = "CREATE TABLE StringIds(id, value)"
NAME = "INSERT INTO StringIds VALUES(1, 'triton_')"
RUN = "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(1, 2, 1, 0, 0, 1, 1, 1, 1, 0)"
DEVICE = "CREATE TABLE TARGET_INFO_GPU(name)"
BLOBS = ", ".join(f"x'0{number}'" for number in range(10))

EXPORTS: dict[str, tuple[str, ...]] = {
    "a kernel's name is a blob": (KERNELS, STRINGS, "INSERT INTO StringIds VALUES(1, x'00ff')", RUN),
    "a kernel's name is a number": (KERNELS, STRINGS, "INSERT INTO StringIds VALUES(1, 7)", RUN),
    "all are blobs": (KERNELS, STRINGS, NAME, f"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES({BLOBS})"),
    "all are texts": (KERNELS, STRINGS, NAME, RUN.replace("1, 2, 1, 0, 0", "'a', 'b', 1, 'c', 'd'")),
    "the device is a blob": (KERNELS, STRINGS, NAME, RUN, DEVICE, "INSERT INTO TARGET_INFO_GPU VALUES(x'00ff')"),
    "the device is a number": (KERNELS, STRINGS, NAME, RUN, DEVICE, "INSERT INTO TARGET_INFO_GPU VALUES(7)"),
    "numbers without an end": (KERNELS, STRINGS, NAME, RUN.replace("1, 2,", "9e999, -1e308,")),
    "a large blob": (KERNELS, STRINGS, "INSERT INTO StringIds VALUES(1, zeroblob(100000000))", RUN),
    "columns that are computed": (
        STRINGS,
        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end AS (zeroblob(1000000000)), demangledName)",
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL(start, demangledName) VALUES(1, 1)",
    ),
    "other columns": ("CREATE TABLE StringIds(x)", "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(x)"),
    "calls and ranges of blobs": (
        KERNELS,
        STRINGS,
        "INSERT INTO StringIds VALUES(1, x'00')",
        RUN,
        "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start, end, nameId, globalTid, correlationId)",
        "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES(1, 2, 1, x'00', x'00')",
        "CREATE TABLE NVTX_EVENTS(start, end, eventType, text, textId, globalTid)",
        "INSERT INTO NVTX_EVENTS VALUES(1, 2, 59, x'00', 1, x'00')",
        "INSERT INTO NVTX_EVENTS VALUES(1, 2, 59, 7, 1, 't')",
    ),
}

SPARSE = {
    "x.sqlite": b"SQLite format 3\0",
    "x.json": b"{",
    "x.csv": b"a,Kernel Name,b\n",
    "late.csv": b"a,Kernel Name,b\n" * 5000,
}


@pytest.fixture
def dump(tmp_path: Path) -> Dump:
    return made(tmp_path / "dump", graph(), ended())


def refused_or_read(dump: Dump, profile: Path, capsys: Capture) -> str:
    """What it says on stderr."""
    status = main(["attribute", str(dump.root), str(profile)])
    told = capsys.readouterr().err
    assert status in (0, 2)
    assert told.count("\n") == (status == 2)
    return told


@pytest.mark.parametrize("kind", EXPORTS)
def test_exports_of_anything(kind: str, dump: Dump, tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "x.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        for statement in EXPORTS[kind]:
            connection.execute(statement)
        connection.commit()

    refused_or_read(dump, path, capsys)


@pytest.mark.parametrize("name", SPARSE)
def test_files_larger_than_any_disk(name: str, dump: Dump, tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / name
    path.write_bytes(SPARSE[name])
    os.truncate(path, 1 << 40)

    assert "no profile that can be read" in refused_or_read(dump, path, capsys)


def test_what_follows_the_events_has_a_limit(dump: Dump, tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "x.json"
    path.write_bytes(b'{"traceEvents": [{"ph": "X"}]')
    os.truncate(path, 1 << 40)

    assert "follow the last event" in refused_or_read(dump, path, capsys)


def damaged(whole: bytes) -> Iterator[bytes]:
    """Eight pieces of a file, and eight times another byte in it."""
    dice = random.Random(48)
    for part in range(8):
        yield whole[: len(whole) * part // 8 + part]
    for _ in range(8):
        changed = bytearray(whole)
        for _ in range(3):
            changed[dice.randrange(len(whole))] = dice.randrange(256)
        yield bytes(changed)


def profiles(folder: Path) -> Iterator[tuple[str, bytes]]:
    """A profile of each form, whole."""
    trace = gzip.decompress(recordings.trace_of(recordings.GIVEN).read_bytes())
    yield "x.json", trace
    yield "x.json.gz", gzip.compress(trace)
    yield "two archives.json.gz", gzip.compress(trace[:5000]) + gzip.compress(trace[5000:])
    path = folder / "whole.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        for statement in (KERNELS, STRINGS, NAME, RUN, DEVICE):
            connection.execute(statement)
        connection.commit()
    yield "x.sqlite", path.read_bytes()
    yield "nsys.csv", b"Start (ns),Duration (ns),Name\n1,2,triton_poi_fused_add_0\n" * 9
    yield "ncu.csv", b'"ID","Kernel Name","Metric Name","Metric Unit","Metric Value"\n"0","a","Duration","ns","1"\n' * 9


def test_a_profile_that_broke_off_or_rotted_is_read_or_refused(dump: Dump, tmp_path: Path, capsys: Capture) -> None:
    for name, whole in profiles(tmp_path):
        for data in damaged(whole):
            (tmp_path / name).write_bytes(data)
            refused_or_read(dump, tmp_path / name, capsys)


def test_of_a_trace_that_broke_off_its_beginning_is_shown(dump: Dump, tmp_path: Path, capsys: Capture) -> None:
    events = gzip.decompress(recordings.trace_of(recordings.GIVEN).read_bytes())
    for name, data in (("t.json", events), ("t.json.gz", gzip.compress(events))):
        (tmp_path / name).write_bytes(data[: len(data) * 9 // 10])

        assert main(["attribute", str(dump.root), str(tmp_path / name), "-o", str(tmp_path / "again.json")]) == 0

        assert "the file ends in the middle" in capsys.readouterr().out
        assert len(json.loads((tmp_path / "again.json").read_bytes())["traceEvents"]) > 50


def test_what_was_taken_out_has_a_limit(dump: Dump) -> None:
    path = dump.root / "shared.json"
    path.write_bytes(b'{"redacted": true, "removed": [')
    os.truncate(path, 1 << 40)

    assert Dump(dump.root).shared is None
