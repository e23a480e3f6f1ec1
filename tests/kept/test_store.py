"""The folder of kept entries, whatever lies there."""

import hashlib
import os
import zlib
from pathlib import Path

import msgspec
import pytest

from inspect_compile.kept.entry import MAGIC, EntryError, packed, unpacked
from inspect_compile.kept.store import PLACE, SIZE, Store, folder, limit
from tests.kept.entries import CONTENT, ENTRY, KEY, VERSIONS, changed


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "kept", VERSIONS, 1 << 20)


def entry_file(root: Path) -> Path:
    (found,) = root.rglob("*.kept")
    return found


def test_what_is_written_is_read(store: Store) -> None:
    assert not store.has(KEY)
    assert store.read(KEY, CONTENT) is None

    store.write(ENTRY)

    assert store.has(KEY)
    assert store.read(KEY, CONTENT) == ENTRY
    assert store.read(KEY, "1" * 64) is None
    assert store.read("another", CONTENT) is None


def test_another_version_of_torch_finds_nothing(store: Store, tmp_path: Path) -> None:
    store.write(ENTRY)

    assert not Store(tmp_path / "kept", ("torch 2.15.0",), 1 << 20).has(KEY)


def test_an_entry_of_other_versions_in_the_place_of_ours_is_refused(store: Store, tmp_path: Path) -> None:
    store.write(ENTRY)
    entry_file(tmp_path).write_bytes(packed(changed(versions=("torch 2.15.0",))))

    with pytest.raises(EntryError, match="other versions"):
        store.read(KEY, CONTENT)


@pytest.mark.parametrize("share", [0.0, 0.1, 0.5, 0.999])
def test_a_torn_entry_is_refused(store: Store, tmp_path: Path, share: float) -> None:
    store.write(ENTRY)
    path = entry_file(tmp_path)
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])

    with pytest.raises(EntryError):
        store.read(KEY, CONTENT)


def test_each_damaged_byte_is_noticed() -> None:
    data = packed(ENTRY)
    for at in range(0, len(data), 7):
        with pytest.raises(EntryError):
            unpacked(data[:at] + bytes([data[at] ^ 0x41]) + data[at + 1 :])


def as_file(body: bytes) -> bytes:
    return MAGIC + hashlib.sha256(body).hexdigest().encode() + b"\n" + body


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"no zlib",
        zlib.compress(b"no MessagePack"),
        zlib.compress(b"\x91" * 100_000),
        zlib.compress(msgspec.msgpack.encode({"versions": 1})),
        zlib.compress(msgspec.msgpack.encode(ENTRY))[:-9],
        zlib.compress(bytes(300 << 20), 1),
    ],
    ids=["empty", "no zlib", "no MessagePack", "deep", "another record", "cut", "a bomb"],
)
def test_a_made_up_entry_is_refused(body: bytes) -> None:
    with pytest.raises(EntryError):
        unpacked(as_file(body))


@pytest.mark.parametrize(
    "name",
    [
        "../../.bashrc",
        "/etc/passwd",
        "run.json",
        "torchinductor/model__0_inference_0.0/../../../x",
        "torchinductor/model__0_inference_0.0/.hidden",
        "torchinductor/another/output_code.py",
        "torchinductor/model__0_inference_0.0",
        "x/graphs.jsonl",
        "guards.jsonl",
    ],
)
def test_a_file_outside_of_the_graphs_is_refused(name: str) -> None:
    with pytest.raises(EntryError, match="no part of its graphs"):
        unpacked(packed(changed(files=((name, b""),))))


def test_what_others_can_write_is_not_read(store: Store, tmp_path: Path) -> None:
    store.write(ENTRY)
    path = entry_file(tmp_path)
    for place in (path, path.parent, tmp_path / "kept"):
        before = place.stat().st_mode
        place.chmod(before | 0o020)
        with pytest.raises(PermissionError, match="others can write"):
            store.read(KEY, CONTENT)
        place.chmod(before)
    assert store.read(KEY, CONTENT) == ENTRY


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root gives files away")
def test_what_another_user_owns_is_not_read(store: Store, tmp_path: Path) -> None:
    store.write(ENTRY)
    os.chown(entry_file(tmp_path), 12345, -1)

    with pytest.raises(PermissionError, match="belongs to somebody else"):
        store.read(KEY, CONTENT)


def test_a_link_in_the_place_of_an_entry_is_not_followed(store: Store, tmp_path: Path) -> None:
    store.write(ENTRY)
    path = entry_file(tmp_path)
    path.rename(tmp_path / "elsewhere")
    path.symlink_to(tmp_path / "elsewhere")

    with pytest.raises(OSError, match=r"symbolic link|Too many levels"):
        store.read(KEY, CONTENT)


def test_nobody_else_can_read_it(store: Store, tmp_path: Path) -> None:
    store.write(ENTRY)

    path = entry_file(tmp_path)
    assert [place.stat().st_mode & 0o077 for place in (path, path.parent, path.parent.parent)] == [0, 0, 0]


def test_the_least_recently_used_goes_first(tmp_path: Path) -> None:
    size = len(packed(ENTRY))
    store = Store(tmp_path, VERSIONS, 3 * size + size // 2)
    keys = ["a", "b", "c"]
    for age, key in enumerate(keys):
        store.write(changed(key=key))
        os.utime(entry_file(tmp_path / store.versions_folder / key), (1000 + age, 1000 + age))
    assert store.read("a", CONTENT) is not None  # used just now

    store.write(changed(key="d"))

    assert [store.has(key) for key in (*keys, "d")] == [True, False, True, True]


def test_what_is_larger_than_the_limit_is_not_kept(tmp_path: Path) -> None:
    store = Store(tmp_path, VERSIONS, 10)
    store.write(ENTRY)
    assert not store.has(KEY)


def test_other_files_in_the_folder_stay(store: Store, tmp_path: Path) -> None:
    mine = tmp_path / "kept" / "notes" / "mine" / "thesis.tex"
    mine.parent.mkdir(parents=True, mode=0o700)
    mine.write_text("x" * (2 << 20))
    (tmp_path / "kept").chmod(0o700)

    store.write(ENTRY)

    assert mine.exists()
    assert store.has(KEY)


def test_where_it_is() -> None:
    assert folder({PLACE: "/somewhere"}) == Path("/somewhere")
    assert folder({"XDG_CACHE_HOME": "/cache"}) == Path("/cache/inspect-compile/compiles")
    assert folder({"HOME": "/x"}).parts[-3:] == (".cache", "inspect-compile", "compiles")
    assert (limit({SIZE: "1000"}), limit({SIZE: "much"}), limit({})) == (1000, 1 << 30, 1 << 30)
