"""Detects which tool wrote a file, and reads its profile."""

from pathlib import Path

from inspect_compile.profiles.events import Profile


def read(path: Path) -> Profile:
    """The profile at `path`. Raises ValueError for an unknown format."""
    with path.open("rb") as file:
        head = file.read(1 << 16)
    if head.startswith(b"SQLite format 3\0"):
        from inspect_compile.profiles import nsys

        return nsys.read_sqlite(path)
    if head.startswith(b"\x1f\x8b") or head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1] in (b"{", b"["):
        from inspect_compile.profiles import chrome

        return chrome.read(path)
    if b"\0" in head:
        raise ValueError("it contains NUL bytes, so it is not text")
    from inspect_compile.profiles import ncu, nsys

    if b'"Kernel Name"' in head or b",Kernel Name," in head:
        return ncu.read_csv(path)
    try:
        return nsys.read_csv(path)
    except ValueError as error:
        try:
            return ncu.read_csv(path)  # after much output of the program
        except ValueError:
            raise error from None
