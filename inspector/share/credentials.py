"""Regular expressions for credentials: tokens of services, keys, passwords, values compared by guards.

Each runs in time linear in the length of the text: what could begin a match anywhere is bounded.
"""

import re
from typing import Final

from inspect_compile.share.patterns import ESCAPE

_BEGINS: Final = rf"(?:(?<![A-Za-z0-9])|{ESCAPE})"

TOKEN: Final = re.compile(
    rf"{_BEGINS}(?:"
    r"hf_[A-Za-z0-9]{16,200}|gh[opsru]_[A-Za-z0-9]{20,300}|github_pat_\w{20,300}"
    r"|gl(?:pat|dt|ft|soat|rt|cbt|imt|ptt|agent|oas)-[\w-]{16,300}|GR1348941[\w-]{20,60}"
    r"|sk-[A-Za-z0-9_-]{20,300}|[rs]k_(?:live|test)_[0-9A-Za-z]{16,200}|(?:A3T[A-Z0-9]|ABIA|ACCA|AKIA|ASIA)[0-9A-Z]{16}"
    r"|AIza[\w-]{30,60}|ya29\.[\w-]{20,300}|GOCSPX-[\w-]{20,60}|xox[abeoprs]-[\w-]{10,300}|xapp-[\w-]{10,300}"
    r"|npm_[A-Za-z0-9]{30,60}|pypi-[\w-]{50,400}|SG\.[\w-]{16,64}\.[\w-]{16,64}|sq0[a-z]{3}-[\w-]{20,60}"
    r"|dop_v1_[0-9a-f]{64}|dapi[0-9a-f]{32}|(?:AC|SK)[0-9a-f]{32}|[0-9a-z]{32}-us\d{1,2}|shp(?:at|ca|pa|ss)_[0-9a-fA-F]{32}"
    r"|AGE-SECRET-KEY-1[0-9A-Z]{50,70}|hvs\.[\w-]{24,300}|nvapi-[\w-]{40,100}|r8_[A-Za-z0-9]{30,60}"
    r"|\d{8,10}:AA[\w-]{33}|[MNO][\w-]{23,25}\.[\w-]{6}\.[\w-]{27,38}"
    rf"|(?:(?<![\w-])|{ESCAPE})eyJ[\w-]{{8,4000}}\.eyJ[\w-]{{8,4000}}(?:\.[\w-]{{0,4000}})?"
    r")(?![A-Za-z0-9])"
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
    r"(?:pass(?:word|wd|phrase|code)|pwd|secret|credential|api[_-]?key|access[_-]?key|account[_-]?key|auth[_-]?key"
    r"|client[_-]?key|private[_-]?key|signing[_-]?key|encryption[_-]?key|service[_-]?key|storage[_-]?key"
    r"|(?:auth|access|refresh|bearer|session|api|id)[_-]?token)"
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

COMPARED: Final = re.compile(
    r"(?P<before>(?:(?<!\w)[GL]\[(?P<key>\\?[\"'])\w{1,200}(?P=key)\][^\s=!]{0,300}|environ\S{1,200}) {1,2}"
    r"(?<!__name__ )(?<!__qualname__ )(?:[!=]=|is) )"
    r"(?P<quote>\\?[\"'])(?P<text>(?:(?!(?P=quote))[^\n]){1,4000})(?P=quote)"
)
"""A guard that compares a global, a local or an environment variable with a text."""

AUTHORIZATION: Final = re.compile(
    r"(?P<before>\b(?:Bearer|Basic|Token)[ \t]{1,4})(?P<text>[A-Za-z0-9+/_.=~-]{16,4000})"
)
"""The value of an HTTP header."""

AWS_SECRET: Final = re.compile(
    r"(?P<before>aws[^\n]{0,30}?(?:key|secret|token|pwd|pass)[^\n]{0,20}?)(?P<quote>\\?[\"'=: ])"
    r"(?P<text>[0-9A-Za-z/+]{40})(?![0-9A-Za-z/+])",
    re.IGNORECASE,
)
