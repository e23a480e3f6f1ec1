"""What people attach is read out of its archive; of a hostile one nothing leaves the folder, and nothing grows."""

import bz2
import gzip
import io
import lzma
import random
import struct
import tarfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from inspect_compile.commands import main
from inspect_compile.dump import Dump
from inspect_compile.errors import DumpError
from inspect_compile.facts import Frame, OriginRecords, Run
from inspect_compile.origins import archives
from inspect_compile.origins.archives import unpack
from inspect_compile.origins.importing import is_readable, read_into


def log(function: str = "f", rank: int | None = None) -> bytes:
    """A TORCH_TRACE log of one frame, as torch writes it."""
    own = {} if rank is None else {"rank": rank}
    start = {"dynamo_start": {"stack": [{"line": 1, "name": function, "filename": 0}]}, "frame_id": 0, **own}
    records = ({"str": ["net.py", 0]}, {**start, "frame_compile_id": 0, "attempt": 0})
    return b"".join(b"V1 x] " + msgspec.json.encode(record) + b"\n" for record in records)


def packed_zip(path: Path, files: dict[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def packed_tar(path: Path, files: dict[str, bytes], kind: str = "gz") -> Path:
    with tarfile.open(path, f"w:{kind}") as archive:  # type: ignore[call-overload]
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return path


def functions(root: Path) -> list[str]:
    return [frame.function for frame in Dump(root).rows(Frame)]


@pytest.mark.parametrize("kind", ["", "gz", "xz", "bz2", "zip"])
def test_a_log_in_any_archive(kind: str, tmp_path: Path) -> None:
    files = {"issue/readme.md": b"see", "issue/logs/dedicated_log.log": log()}
    path = tmp_path / "attached"
    path = packed_zip(path, files) if kind == "zip" else packed_tar(path, files, kind)
    assert is_readable(path)
    read_into(path, tmp_path / "dump")
    assert functions(tmp_path / "dump") == ["f"]


@pytest.mark.parametrize(("ending", "compress"), [("gz", gzip.compress), ("xz", lzma.compress), ("bz2", bz2.compress)])
def test_one_log_that_is_compressed(ending: str, compress: Callable[[bytes], bytes], tmp_path: Path) -> None:
    path = tmp_path / f"trace.log.{ending}"
    path.write_bytes(compress(log() * 20_000))
    read_into(path, tmp_path / "dump")
    assert functions(tmp_path / "dump")[:1] == ["f"]
    assert Dump(tmp_path / "dump").run.argv == ("trace.log",)


def test_the_logs_of_ranks_are_parts(tmp_path: Path) -> None:
    files = {f"logs/dedicated_log_torch_trace_rank_{rank}_x.log": log(f"f{rank}", rank) for rank in range(3)}
    read_into(packed_zip(tmp_path / "logs.zip", files), tmp_path / "dump")
    assert [path.name for path in Dump(tmp_path / "dump").other_processes] == ["rank_0", "rank_1", "rank_2"]


def test_several_origins_are_parts(tmp_path: Path) -> None:
    files = {"before/a.log": log("old"), "after/a.log": log("new")}
    read_into(packed_tar(tmp_path / "both.tar.gz", files), tmp_path / "dump")
    dump = Dump(tmp_path / "dump")
    assert dump.run.origin == "archive"
    assert [functions(part) for part in dump.other_processes] == [["new"], ["old"]]


def test_a_dump_is_taken_out_as_it_is(tmp_path: Path) -> None:
    run = msgspec.json.encode(Run(status="finished", argv=("train.py",)))
    read_into(packed_zip(tmp_path / "shared.zip", {"dump/run.json": run}), tmp_path / "dump")
    assert Dump(tmp_path / "dump").run.argv == ("train.py",)


def test_an_archive_in_an_archive(tmp_path: Path) -> None:
    inner = packed_tar(tmp_path / "logs.tar.gz", {"a.log": log()}).read_bytes()
    read_into(packed_zip(tmp_path / "attached.zip", {"logs.tar.gz": inner}), tmp_path / "dump")
    assert functions(tmp_path / "dump") == ["f"]

    deeper = packed_zip(tmp_path / "deeper.zip", {"attached.zip": (tmp_path / "attached.zip").read_bytes()})
    with pytest.raises(DumpError, match=r"1 \(archives in archives of archives\)"):
        read_into(deeper, tmp_path / "no")


def test_show_and_import_take_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = packed_zip(tmp_path / "logs.zip", {"a.log": log(), "../b.log": b"x"})
    assert main(["show", str(path), "dynamo"]) == 0
    assert "net.py" in capsys.readouterr().out
    assert main(["import", str(path), "-o", str(tmp_path / "dump")]) == 0
    assert "1 file not read: names that lead out of the archive" in capsys.readouterr().err
    assert "lead out of the archive" in [row.what.partition("names that ")[2] for row in unread(tmp_path / "dump")]


def unread(root: Path) -> list[OriginRecords]:
    return [row for row in Dump(root).rows(OriginRecords) if row.became == "not read"]


def test_nothing_leaves_the_folder(tmp_path: Path) -> None:
    names = ("../out.log", "/tmp/out.log", "a/../../out.log", "..\\out.log", "C:\\out.log", "ok/a.log")
    for number, pack in enumerate((packed_zip, packed_tar)):
        folder = tmp_path / str(number) / "inside"
        folder.mkdir(parents=True)
        left_out = unpack(pack(tmp_path / f"{number}.archive", dict.fromkeys(names, b"x")), folder)
        assert left_out == {archives.OUTSIDE: 5}
        assert [path for path in folder.parent.rglob("*") if path.is_file()] == [folder / "ok" / "a.log"]


def test_links_and_devices_are_left_out(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("x", encoding="utf-8")
    with tarfile.open(tmp_path / "links.tar", "w") as archive:
        for name, kind in (
            ("a", tarfile.SYMTYPE),
            ("b", tarfile.LNKTYPE),
            ("c", tarfile.CHRTYPE),
            ("d", tarfile.FIFOTYPE),
        ):
            info = tarfile.TarInfo(name)
            info.type, info.linkname = kind, str(secret)
            archive.addfile(info)
        info = tarfile.TarInfo("a/b.log")  # through the link, if there were one
        info.size = 1
        archive.addfile(info, io.BytesIO(b"y"))
    (tmp_path / "tar").mkdir()
    assert unpack(tmp_path / "links.tar", tmp_path / "tar") == {archives.LINKS: 4}
    assert (tmp_path / "tar" / "a" / "b.log").read_bytes() == b"y"

    link = zipfile.ZipInfo("a")
    link.create_system, link.external_attr = 3, 0o120777 << 16
    with zipfile.ZipFile(tmp_path / "link.zip", "w") as zipped:
        zipped.writestr(link, str(secret))
    (tmp_path / "zip").mkdir()
    assert unpack(tmp_path / "link.zip", tmp_path / "zip") == {archives.LINKS: 1}
    assert not list((tmp_path / "zip").iterdir())


def test_names_that_no_file_can_have(tmp_path: Path) -> None:
    names = ("a" * 300, "/".join("a" * 50), "", "x", "x/y", "x")
    folder = tmp_path / "inside"
    folder.mkdir()
    path = tmp_path / "names.tar"
    with tarfile.open(path, "w") as archive:
        for name in names:
            archive.addfile(tarfile.TarInfo(name))
    assert unpack(path, folder) == {archives.NAMES: 3, archives.TWICE: 2}


def test_a_tar_without_an_end_is_torn(tmp_path: Path) -> None:
    path = packed_tar(tmp_path / "a.tar", {"a.log": b"x" * 512, "b.log": b"x" * 512}, "")
    whole = path.read_bytes()
    for number, length in enumerate((1024, 1500)):
        path.write_bytes(whole[:length])
        (folder := tmp_path / str(number)).mkdir()
        assert unpack(path, folder) == {archives.TORN: 1}
        assert [file.name for file in folder.iterdir()] == ["a.log"]


@pytest.mark.parametrize("kind", ["zip", "gz", "xz", "bz2", "tar.gz"])
def test_a_bomb_is_refused_in_one_line(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(archives, "ALWAYS", 8 << 20)
    zeros = bytes((8 << 20) + 1)
    path = tmp_path / f"bomb.{kind}"
    compress: dict[str, Callable[[bytes], bytes]] = {
        "gz": lambda data: gzip.compress(data, 9),
        "xz": lambda data: lzma.compress(data, preset=0),
        "bz2": bz2.compress,
    }
    if kind in compress:
        path.write_bytes(compress[kind](zeros))
    else:
        (packed_zip if kind == "zip" else packed_tar)(path, {"a.log": zeros})
    assert main(["show", str(path)]) == 2
    assert capsys.readouterr().err == f"inspect-compile: {path}: is not unpacked: it holds more than 8 MiB\n"


def test_a_tar_says_little_of_a_file(tmp_path: Path) -> None:
    """A header of 2 MiB: Python's reader would take as much memory as it asks for."""
    info = tarfile.TarInfo("a")
    info.pax_headers = {"comment": "x" * (2 << 20)}
    path = tmp_path / "long.tar"
    path.write_bytes(info.tobuf(tarfile.PAX_FORMAT))
    (tmp_path / "inside").mkdir()
    assert unpack(path, tmp_path / "inside") == {archives.TORN: 1}


def test_a_directory_that_is_too_long(tmp_path: Path) -> None:
    path = packed_zip(tmp_path / "a.zip", {"a.log": b"x"})
    data = bytearray(path.read_bytes())
    data[-22 + 12 : -22 + 16] = struct.pack("<L", 1 << 30)
    path.write_bytes(data)
    (tmp_path / "inside").mkdir()
    with pytest.raises(DumpError, match="its directory has more than 32 MiB"):
        unpack(path, tmp_path / "inside")


@pytest.mark.parametrize("kind", ["zip", "", "gz", "xz", "bz2"])
def test_torn_and_damaged_ones_are_read_as_far_as_they_go(kind: str, tmp_path: Path) -> None:
    """Cut anywhere or with a changed byte: what could be read, and a count of the rest."""
    chance = random.Random(7)
    files = {f"{number}/a.log": chance.randbytes(3000) for number in range(3)}
    path = tmp_path / "whole"
    path = packed_zip(path, files) if kind == "zip" else packed_tar(path, files, kind)
    whole = path.read_bytes()
    for number in range(150):
        data = bytearray(whole)
        if number % 2:
            data = data[: chance.randrange(6, len(data))]
        else:
            data[chance.randrange(8, len(data))] ^= chance.randrange(1, 256)
        path.write_bytes(data)
        folder = tmp_path / str(number)
        folder.mkdir()
        try:
            left_out = unpack(path, folder)
        except DumpError:
            continue
        unpacked = [file.read_bytes() for file in folder.rglob("*") if file.is_file()]
        assert left_out or len(unpacked) == 3


def test_what_holds_nothing_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = packed_zip(tmp_path / "a.zip", {"readme.md": b"hello"})
    assert main(["show", str(path)]) == 2
    assert capsys.readouterr().err == f"inspect-compile: {path}: an archive with nothing in it that can be read\n"
