"""Regular expressions for what may occur anywhere in a text: directories, names, addresses."""

import json
import re
import unicodedata
from collections.abc import Iterable
from typing import Final
from urllib.parse import quote

PART: Final = r"[\w.+@%=~$#-]+"
"""One component of a path in a text without quotes."""

_QUOTED: Final = r"[^\"'`\n\\/:<>|*?;{}\[\],]+"
_SPLIT: Final = r"[\\/]+"
ESCAPE: Final = r"(?<=\\[nrt])"
"""After a line feed or similar character that a text contains as an escape."""

PATH: Final = "|".join(
    (
        rf"(?<=[\"'`])/(?=[\w.]){_QUOTED}(?:/+{_QUOTED})++(?=[\"'`])",
        rf"(?:(?<![\w.~/\\)\]}}<*%$-])|(?<=[^\w]-[ILB])|{ESCAPE})/(?=[^\W\d]|\.){PART}(?:/+{PART})++/?",
        rf"(?<![A-Za-z0-9])[A-Za-z]:{_SPLIT}(?=[\w.$-]{{2}}){PART}(?:{_SPLIT}{PART})*+",
        rf"(?<![\w\\])\\\\[\w.-]{{3,}}\\{{1,2}}[\w.$-]{{3,}}(?:{_SPLIT}{PART})*+",
        rf"(?<![\w~/.])~/{PART}(?:/+{PART})*+",
    )
)
"""An unknown absolute path of any system, with at least two components."""

_ABOVE: Final = rf"(?:[A-Za-z]:)?(?:{_SPLIT}[\w.+@%=~$#-]{{1,255}}){{0,40}}?"
"""The directories above one: each may begin a path of its own, so that their number has a bound."""

HOME: Final = re.compile(rf"(?:(?<![\w.~\\/-])|{ESCAPE})({_ABOVE}{_SPLIT}(?:homes?|[Uu]sers){_SPLIT}([^\W_][\w.+@-]*))")
"""A home directory, with the name in it."""

CACHE: Final = re.compile(rf"(?:(?<![\w.~\\/-])|{ESCAPE})({_ABOVE}{_SPLIT}torchinductor_([\w.-]+))")
"""Inductor's cache directory of a user, with the user's name in it."""

URL: Final = re.compile(r"(?<![\w])[A-Za-z][A-Za-z0-9+.-]{1,15}://[^\s\"'`<>()\[\]{}\\|^]+")
PUBLIC_URLS: Final = (
    "https://pytorch.org/",
    "https://docs.pytorch.org/",
    "https://dev-discuss.pytorch.org/",
    "https://meta-pytorch.org/",
    "https://meta-pytorch.github.io/",
    "https://github.com/pytorch/",
    "https://github.com/triton-lang/triton/",
    "https://docs.google.com/document/",  # torch's own errors point there
    "https://docs.python.org/",
    "https://docs.nvidia.com/",
    "https://developer.nvidia.com/",
    "http://www.apache.org/licenses/",
)
GIT: Final = re.compile(r"(?<![\w.@/-])[\w.-]+@[\w.-]+:[\w.~-]*/[\w.~/-]+")
_TOP_LEVEL: Final = (
    "com|org|net|edu|gov|mil|int|info|io|ai|dev|app|co|me|cloud|tech|eu|us|uk|ca|au|de|fr|ch|at|nl|be|it|es|pt|pl|cz|se"
    "|no|fi|dk|ie|ru|ua|tr|il|in|cn|hk|tw|jp|kr|sg|br|mx|ar|za|local|corp|internal|lan"
)
EMAIL: Final = re.compile(
    rf"(?:(?<![\w.+@-])[\w.+-]++|\"[^\"\s@]{{1,64}}\")@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.(?:{_TOP_LEVEL})(?![\w(\[-])(?!\.\w)"
)
"""Not a matrix product such as `q@k.transpose(-1)`."""
ADDRESS: Final = re.compile(
    r"(?<![\w.])(?!127\.|0\.0\.0\.0)(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(?:25[0-5]|2[0-4]\d|1?\d?\d)(?![\w]|\.\d)"
    r"|(?<![\w-])(?:ip|ec2)-\d{1,3}(?:-\d{1,3}){3}(?:\.[\w-]+)*|(?<![\w-])i-[0-9a-f]{17}(?![\w-])"
    r"|(?<![\w:.])(?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}(?![\w:])"
    r"|(?<![\w:.])(?=[0-9:]{0,39}[A-Fa-f]|(?:\d{0,4}:){3})(?=[0-9A-Fa-f:]{0,39}::)"
    r"(?:[Ff][Ee][89ABab][0-9A-Fa-f]|[Ff][CDcd][0-9A-Fa-f]{2}|[23][0-9A-Fa-f]{3})(?::[0-9A-Fa-f]{0,4}){2,7}(?:%\w{1,20})?(?![\w:])"
    r"|(?<![\w:-])[0-9A-Fa-f]{2}(?P<between>[:-])(?:[0-9A-Fa-f]{2}(?P=between)){4}[0-9A-Fa-f]{2}(?![\w-]|:\w)"
)
"""Of IPv4, IPv6 (not a slice such as `2048::2`), a network card, a machine of Amazon's."""


def spellings(name: str) -> list[str]:
    """`name` as texts may contain it: composed or not, and escaped if it is not ASCII."""
    cases = (name, name.lower(), name.upper())  # escapes of é and É differ only in case
    forms = [form for case in cases for form in (case, *(unicodedata.normalize(way, case) for way in ("NFC", "NFD")))]
    forms += [escaped for form in forms for escaped in _escaped(form)]
    return list(dict.fromkeys(forms))


def _escaped(form: str) -> tuple[str, ...]:
    """`form` in JSON, in Python's texts and bytes, and in URLs."""
    as_bytes = repr(form.encode("utf-8", "surrogateescape"))[2:-1]
    return json.dumps(form)[1:-1], ascii(form)[1:-1], as_bytes, quote(form, errors="surrogateescape")


def words(names: Iterable[str]) -> str:
    """Matches any of `names`, not inside a longer word; an underscore ends a word."""
    found = sorted({form for name in names for form in spellings(name)}, key=lambda form: (-len(form), form))
    return rf"(?:(?<![^\W_])|{ESCAPE})(?:{'|'.join(map(re.escape, found))})(?![^\W_])" if found else r"(?!)"


def places(paths: Iterable[str]) -> str:
    """Matches any of these directories or files, given with slashes and written with any number of slashes."""
    return "|".join(map(_place, sorted(set(paths), key=lambda path: (-len(path), path)))) or r"(?!)"


def headless(paths: Iterable[str]) -> dict[str, str]:
    """What torch's guards show of these directories → the directory.

    In `# y = x + 1  # ome/alice/net.py:3 in forward` it has left out what the file's path has in common with its own,
    and one more character: it takes this for a slash.
    """
    found: dict[str, str] = {}
    for path in sorted(set(paths)):
        parts = [part for part in path.split("/") if part]
        if path.startswith("/") and parts:
            for tail in (path[2:], *("/".join(parts[count:]) for count in range(1, len(parts)))):
                found.setdefault(tail, path)
    found.pop("", None)
    return found


GUARDED: Final = re.compile(r"(?<=# )(?P<folder>[^\s~</#:][^\n#:]{0,1000}/)(?P<name>[^\n#:/]{1,255})(?=:\d{1,9} in )")
"""Where torch's guards say what they come from: a file, whose path may lack its beginning."""


def _place(path: str) -> str:
    parts = [rf"(?:{'|'.join(map(re.escape, spellings(part)))})" for part in path.split("/") if part]
    rooted = path.startswith("/")
    # `/work` also occurs in other paths and formulas, `/home/alice` does not.
    before = rf"(?:(?<![\w.~\\/-])|{ESCAPE})" if len(parts) < 2 or not rooted else r"(?<![\\/])"
    root = _SPLIT if rooted else ""
    return rf"{before}{root}{_SPLIT.join(parts)}(?![\w-])(?!\.\w)"
