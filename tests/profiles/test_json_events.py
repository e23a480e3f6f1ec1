"""Chrome traces in chunks: every event once, whatever its layout, and what is torn or damaged is told."""

import gzip
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from inspect_compile.profiles import chrome, json_events
from inspect_compile.profiles.json_events import EventReader
from tests.profiles import recordings

TRAP = {"ph": "X", "cat": "cpu_op", "name": 'a "}, {"ph": "X" \\', "args": {"list": [{"a": 1}, {"ph": "}"}]}}
"""Looks like several events, in a string and in a list."""


def _read(path: Path) -> tuple[list[Any], EventReader[Any]]:
    reader: EventReader[Any] = EventReader(path, msgspec.json.Decoder(list[Any]).decode)
    return [event for batch in reader.batches() for event in batch], reader


@pytest.fixture(params=[37, 200, 4 << 20])
def chunk(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> int:
    """Chunks that end anywhere in an event."""
    size: int = request.param
    monkeypatch.setattr(json_events, "CHUNK", size)
    return size


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("is_bare", [False, True])
def test_every_event_is_read_once(indent: int | None, is_bare: bool, chunk: int, tmp_path: Path) -> None:
    events = [{**TRAP, "ts": number} if number % 3 else {"ph": "M", "ts": number} for number in range(40)]
    text = json.dumps(events if is_bare else {"a": 1, "traceEvents": events, "traceName": "x"}, indent=indent)
    (tmp_path / "t.json").write_text(text)
    (tmp_path / "t.json.gz").write_bytes(gzip.compress(text.encode()))

    for name in ("t.json", "t.json.gz"):
        found, reader = _read(tmp_path / name)
        assert found == events
        assert json.loads(reader.around.head + reader.around.tail) == (
            [] if is_bare else {"a": 1, "traceEvents": [], "traceName": "x"}
        )


def test_a_torn_file_and_an_event_that_is_no_json(chunk: int, tmp_path: Path) -> None:
    """Kineto has written `nan` for a share of nothing."""
    events = [json.dumps({**TRAP, "ts": number}) for number in range(9)]
    events[4] = '{"ph": "X", "args": {"blocks per SM": -nan}}'
    path = tmp_path / "t.json"
    path.write_text('{"traceEvents": [' + ",\n".join(events) + ',\n{"ph": "X", "na')

    found, _ = _read(path)

    assert [event["ts"] if event else None for event in found] == [0, 1, 2, 3, None, 5, 6, 7, 8]
    assert chrome.read(path).damaged == 1


@pytest.mark.parametrize("text", ["", "{}", '{"traceEvents": 3}', "no json"])
def test_what_is_no_trace_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "t.json").write_text(text)

    with pytest.raises(ValueError, match="traceEvents"):
        chrome.read(tmp_path / "t.json")


@pytest.mark.parametrize("to", ["out.json", "out.json.gz"])
def test_a_trace_written_again_has_the_notes_and_all_that_it_had(to: str, chunk: int, tmp_path: Path) -> None:
    path = recordings.trace_of(recordings.GIVEN)
    runs = chrome.read(path).runs

    assert chrome.annotate(path, tmp_path / to, {run.index: {"user line": "net.py:13"} for run in runs}) == 24

    written = (tmp_path / to).read_bytes()
    found = json.loads(gzip.decompress(written) if to.endswith("gz") else written)
    noted = [event["args"].pop("user line") for event in found["traceEvents"] if event.get("cat") == "kernel"]
    assert noted == ["net.py:13"] * 24
    assert found == recordings.events_of(recordings.GIVEN)
