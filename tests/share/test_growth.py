"""A text of twice the length takes at most some twice the time: each pattern, on what is hardest for it."""

import time
from collections.abc import Callable

import pytest

from inspect_compile.share import encodings
from inspect_compile.share.redact import Redactor
from inspect_compile.share.source_lines import SourceLines
from tests.share.test_redact import secrets_of

PIECES = (
    " # a",
    "# File: a, code: ",
    '  File "a", line 1',
    "eyJ-",
    "eyJaaaaaaaa.",
    "password='",
    "password=",
    "token='",
    "aws key ",
    "Bearer ",
    "-----BEGIN RSA PRIVATE KEY-----",
    "-----BEGIN ",
    "G['a'] ",
    "G['a']['a'",
    "environ",
    "sk-a",
    "M-",
    "%41",
    "%",
    "a.",
    "a/",
    "/a",
    "/home/a",
    "C:\\",
    "\\\\a",
    "1,",
    "104, ",
    ".b8 1\n",
    ".b8 1,",
    ".b8 104//",
    "\\x41",
    "\\",
    "a\\x00",
    "ab",
    "0",
    "A-",
    "a@",
    "+a",
    "a+",
    "/a+",
    "/#",
    '"a',
    "a@a.",
    "a@a:",
    "1.1.1.",
    "ip-1-",
    "a://",
    "https://pytorch.org/?",
    "zebulon_",
    "\n",
    "~",
    "'/a b",
    "<password",
    "password: a[",
    "--a-",
    "mysql a -",
    "'a' == ",
    "&code=",
    "gAAAAAa",
    "Ab0C",
    "ö",
)


def seconds(work: Callable[[str], object], text: str) -> float:
    """CPU time, the least of three."""
    times = []
    for _ in range(3):
        start = time.process_time()
        work(text)
        times.append(time.process_time() - start)
    return min(times)


WORKS: dict[str, Callable[[str], object]] = {
    "redact": lambda text: Redactor(secrets_of()).text(text),
    "gather": lambda text: secrets_of(text),
    "source lines": lambda text: SourceLines().text(text),
    "a source line": lambda text: SourceLines().line(text.replace("\n", " ")),
    "decode": encodings.hidden,
}


@pytest.mark.parametrize("piece", PIECES)
@pytest.mark.parametrize("work", WORKS)
def test_twice_the_text_takes_twice_the_time(work: str, piece: str) -> None:
    length = 10_000
    for _ in range(3):  # a busy machine may be slow once
        once = seconds(WORKS[work], piece * (length // len(piece)))
        twice = seconds(WORKS[work], piece * (2 * length // len(piece)))
        if twice <= max(2.5 * once, 0.02):
            return
    pytest.fail(f"{once:.3f} s, then {twice:.3f} s")
