"""The folder of kept entries, whatever lies there."""

import errno
import hashlib
import multiprocessing
import os
import random
import subprocess
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import pytest

from inspect_compile.kept.entry import MAGIC, Entry, EntryError, packed, unpacked
from inspect_compile.kept.store import PLACE, SIZE, Store, folder, limit
from tests.disks import small_disk
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
        zlib.compress(msgspec.msgpack.encode(changed(nodes=(("x", 1),)))),
        zlib.compress(msgspec.msgpack.encode(changed(nodes=(("x", -2),)))),
        zlib.compress(msgspec.msgpack.encode(changed(nodes=(("x", 1 << 62),)))),
    ],
    ids=[
        *("empty", "no zlib", "no MessagePack", "deep", "another record", "cut", "a bomb"),
        *("no such stack", "below all stacks", "a huge number"),
    ],
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
    with pytest.raises(EntryError, match="not part of its graphs"):
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

    with pytest.raises(PermissionError, match="belongs to another user"):
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


def of_size(key: str, size: int) -> Entry:
    """An entry that takes as many bytes in a file."""
    name = "torchinductor/model__0_inference_0.0/output_code.py"
    return changed(key=key, files=((name, random.Random(key).randbytes(size)),))


def test_a_full_disk(tmp_path: Path) -> None:
    """What does not fit is refused, and leaves nothing; what was there is still there."""
    with small_disk(tmp_path / "disk", 256) as disk:
        store = Store(disk / "kept", VERSIONS, 1 << 30)
        store.write(of_size("before", 100_000))
        with pytest.raises(OSError, match="No space left") as refused:
            store.write(of_size("large", 300_000))

        assert refused.value.errno == errno.ENOSPC
        assert not store.has("large")
        assert store.read("before", CONTENT) == of_size("before", 100_000)
        assert [path.name for path in disk.rglob("*") if path.is_file()] == [f"{CONTENT}.kept"]
        store.write(of_size("small", 10_000))
        assert store.has("small")


def test_a_disk_that_cannot_be_written_to(tmp_path: Path) -> None:
    with small_disk(tmp_path / "disk", 256) as disk:
        store = Store(disk / "kept", VERSIONS, 1 << 30)
        store.write(ENTRY)
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)

        assert store.read(KEY, CONTENT) == ENTRY
        with pytest.raises(OSError, match="Read-only file system"):
            store.write(changed(key="other"))


@contextmanager
def another_user() -> Iterator[None]:
    """What is done in the block is done as a user without rights."""
    os.seteuid(12345)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root becomes another user")
def test_two_users_with_one_folder(tmp_path_factory: pytest.TempPathFactory) -> None:
    """Neither reads what the other one kept, nor is anything of it changed."""
    folder = tmp_path_factory.mktemp("shared", numbered=True)
    for place in (folder, *folder.parents):
        if place.stat().st_mode & 0o777 == 0o700:
            place.chmod(0o755)
    mine = Store(folder / "mine", VERSIONS, 1 << 20)
    mine.write(ENTRY)
    with another_user():
        with pytest.raises(PermissionError):
            mine.has(KEY)
        with pytest.raises(PermissionError):
            mine.read(KEY, CONTENT)
        with pytest.raises(PermissionError):
            mine.write(changed(key="theirs"))
    folder.chmod(0o777)
    theirs = Store(folder / "theirs", VERSIONS, 1 << 20)
    with another_user():
        theirs.write(ENTRY)
        assert theirs.read(KEY, CONTENT) == ENTRY
    with pytest.raises(PermissionError, match="belongs to another user"):
        theirs.read(KEY, CONTENT)
    with pytest.raises(PermissionError, match="belongs to another user"):
        theirs.write(changed(key="mine"))
    assert mine.read(KEY, CONTENT) == ENTRY


def _hammer(root: Path, seed: int, refused: "multiprocessing.Queue[str]") -> None:
    """Write and read some of the same entries as other processes do, in a folder that holds three of ten."""
    store = Store(root, VERSIONS, 100_000)
    chosen = random.Random(seed)
    for _ in range(150):
        key = str(chosen.randrange(10))
        try:
            if chosen.random() < 0.5:
                store.write(of_size(key, 30_000))
            elif (found := store.read(key, CONTENT)) is not None and found != of_size(key, 30_000):
                refused.put(f"{key} is another entry")
        except Exception as error:
            refused.put(f"{key}: {error!r}")
    refused.put("")


def test_several_processes_at_once(tmp_path: Path) -> None:
    """Each finds whole entries or none, also while others remove the oldest."""
    context = multiprocessing.get_context("fork")
    told = context.Queue()
    processes = [context.Process(target=_hammer, args=(tmp_path / "kept", seed, told)) for seed in range(4)]
    for process in processes:
        process.start()
    found = [told.get(timeout=60) for _ in processes]
    while any(found) and found.count("") < len(processes):
        found.append(told.get(timeout=60))
    for process in processes:
        process.join(60)

    assert found == [""] * len(processes)
    files = [path for path in (tmp_path / "kept").rglob("*") if path.is_file()]
    assert files
    assert all(path.suffix == ".kept" for path in files)
    assert sum(path.stat().st_size for path in files) <= 100_000 + 30_000 * len(processes)
