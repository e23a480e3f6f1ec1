"""Regular expressions for credentials: tokens of services, keys, passwords, values compared by guards.

Each runs in time linear in the length of the text: what could begin a match anywhere is bounded.
"""

import re
from typing import Final

from inspect_compile.share.patterns import ESCAPE
from inspect_compile.share.tokens import FORMS

_BEGINS: Final = rf"(?:(?<![A-Za-z0-9])|{ESCAPE})"

TOKEN: Final = re.compile(
    rf"{_BEGINS}(?:{'|'.join(form for forms in FORMS.values() for form in forms)})(?![A-Za-z0-9])"
)
"""Tokens of well-known services, recognisable by their form."""

KEY: Final = re.compile(rf"{_BEGINS}(?<!git version: )(?:[0-9a-f]{{40}}|[0-9a-f]{{32}})(?![0-9A-Za-z])")
"""A key of 160 or 128 bits, as some services issue them. Not torch's own version, which is a git commit."""

PEM: Final = re.compile(
    r"-----BEGIN (?P<what>[A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?)-----"
    r"(?:(?!-----(?:BEGIN|END) )[A-Za-z0-9+/=\s\\,:.()-]){0,20000}(?:-----END (?P=what)-----)?"
)
"""A private key with its lines, which may be escaped."""
PEM_BEGINS: Final = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY")
PEM_ENDS: Final = re.compile(r"-----END ")

_SECRET: Final = (
    r"(?:pass(?:word|wd|phrase|code)|pwd|secret|credential|webhook|api[_-]?key|access[_-]?key|account[_-]?key|auth[_-]?key"
    r"|client[_-]?key|private[_-]?key|signing[_-]?key|encryption[_-]?key|service[_-]?key|storage[_-]?key"
    r"|(?:auth|access|refresh|bearer|session|security|api|id)[_-]?token)"
)
_MEANS: Final = r"[\"'\])\\]{0,6}[ \t]{0,4}(?:[!=]==?|:=|=>?|:)[ \t]{0,4}"
_LITERAL: Final = r"[rbuf]?(?:(?P<quote>\\?[\"'])(?P<text>(?:(?!(?P=quote))[^\n]){1,4000})(?P=quote))"
_BARE: Final = r"(?P<bare>[^\s\"'`()\[\]{}<>,;.~\\][^\s\"'`()\[\]{}<>,;\\]{5,200})(?=[\s,;\"'\\)\]}&]|$)"

ASSIGNED: Final = re.compile(rf"(?P<before>{_SECRET}\w{{0,40}}{_MEANS})(?:{_LITERAL}|{_BARE})", re.IGNORECASE)
"""A name that says what follows it, `db_password`, and a quoted text or a word."""

TOKEN_ASSIGNED: Final = re.compile(
    rf"(?P<before>(?<![A-Za-z])(?:\w{{0,40}}_)?tokens?{_MEANS})(?P<quote>\\?[\"'])(?P<text>[\w.+/=-]{{12,4000}})(?P=quote)",
    re.IGNORECASE,
)
""""Token" usually refers to the number of a word: only a long quoted text is a credential."""

SHORT_ASSIGNED: Final = re.compile(
    rf"(?P<before>(?<![A-Za-z])(?:\w{{0,40}}_)?(?:pw|psk|pass|pin|otp|creds?){_MEANS})"
    r"(?:(?P<quote>\\?[\"'])(?P<text>(?:(?!(?P=quote))[^\n]){3,4000})(?P=quote)"
    r"|(?P<bare>(?=[A-Za-z!#$%&*+-]{0,100}\d)[^\s\"'`()\[\]{}<>,;.~\\=][^\s\"'`()\[\]{}<>,;\\=]{5,200})(?=[\s,;\"'\\)\]}&]|$))",
    re.IGNORECASE,
)
"""Short names, that are words of code too: a quoted text, or a word with a digit in it."""

COMPARED: Final = re.compile(
    r"(?P<before>(?<!__name__ )(?<!__qualname__ )(?<!__module__ )(?:[!=]=|(?<=[\w\])] )is(?: not)?) {1,2}b?|→ b?)"
    r"(?P<quote>\\?[\"'])(?P<text>(?:(?!(?P=quote))[^\n]){1,4000})(?P=quote)"
)
"""What is compared, as by guards on globals, locals and variables of the environment, and what it became."""

CHANGED: Final = re.compile(
    r"(?P<before>(?<![\w\]])b?)(?P<quote>\\?[\"'])(?P<text>(?:(?!(?P=quote))[^\n]){1,4000})(?P=quote)(?= →)"
)
"""What it was before."""

MEMBERS: Final = re.compile(r"(?P<before>[!=]= )(?P<text>[\[({](?=[^\n\])}\"']{0,400}[\"'])[^\n\])}]{1,4000}[\])}])")
"""The same for lists of texts."""

LITERAL: Final = re.compile(r"[rbuf]{0,2}([\"'])(?:(?!\1).){0,4000}\1", re.DOTALL)
"""A quoted text alone."""

WORDS_OF_TORCH: Final = re.compile(
    r"(?:torch\.)?(?:b?float|u?int|complex|bool|half|double|long|short|char|byte|qu?int)\w{0,12}"
    r"|(?:cpu|cuda|xpu|mps|hip|meta|hpu|mtia|privateuseone|nccl|gloo|mpi|inductor|eager|aot_eager|triton|cpp)(?::\d{1,3})?"
    r"|strided|sparse_\w{3,4}|torch\.\w{1,40}|mean|sum|none|max|min|train|eval|default|reduce-overhead"
    r"|max-autotune|max-autotune-no-cudagraphs|linear|nearest|bilinear|bicubic|constant|reflect|replicate|zeros|tanh"
    r"|relu|gelu|silu|sdpa|flash_attention_2|__\w{1,40}__"
)
"""Texts that stay where they are compared: of dtypes, devices, layouts, modes and names that torch has itself."""

AUTHORIZATION: Final = re.compile(
    r"(?P<before>\b(?:Bearer|Basic|Token|ApiKey|Api-Key|Digest|Negotiate|GenieKey)[ \t]{1,4})"
    r"(?P<text>[A-Za-z0-9+/_.=~-]{16,4000})"
)
"""The value of an HTTP header."""

HEADER: Final = re.compile(
    r"(?P<before>\b(?:(?:Proxy-)?Authorization|(?:Set-)?Cookie(?=[\"']?[ \t]{0,4}:[ \t]{0,4}[\"']?[\w.-]{1,200}=)"
    r"|X-[A-Za-z-]{0,40}?(?:Key|Token|Auth|Secret)[A-Za-z-]{0,20})[\"']?[ \t]{0,4}:[ \t]{0,4})"
    r"(?P<quote>\\?[\"']?)(?P<text>[^\s\"'\\~][^\n\"'\\]{5,4000})",
    re.IGNORECASE,
)
"""A header that holds nothing else."""

AWS_SECRET: Final = re.compile(
    r"(?P<before>aws[^\n]{0,30}?(?:key|secret|token|pwd|pass)[^\n]{0,20}?)(?P<quote>\\?[\"'=: ])"
    r"(?P<text>[0-9A-Za-z/+]{40})(?![0-9A-Za-z/+])",
    re.IGNORECASE,
)
