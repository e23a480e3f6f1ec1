"""Regular expressions for credentials: tokens of services, keys, passwords, values compared by guards.

Each runs in time linear in the length of the text: what could begin a match anywhere is bounded.
"""

import re
from typing import Final

from inspect_compile.share.patterns import ESCAPE
from inspect_compile.share.tokens import FORMS

_BEGINS: Final = rf"(?:(?<![A-Za-z0-9])|{ESCAPE})"

TOKEN: Final = re.compile(
    rf"{_BEGINS}(?=[^\s\"'(]{{15}})(?:{'|'.join(form for forms in FORMS.values() for form in forms)})(?![A-Za-z0-9])"
)
"""Tokens of well-known services, recognisable by their form; the look ahead passes over most words at once."""

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
    r"(?=[abcdehilmprsw密パ비п])"  # faster than to try each of what follows
    r"(?:pass[_-]?(?:word|wd|phrase|code)|pwd|secret|credential|webhook|passwort|mot[_-]?de[_-]?passe|contrase(?:ñ|n)a"
    r"|senha|парол|密码|密碼|パスワード|비밀번호|sess(?:ion)?[_-]?id|connect\.sid"
    r"|(?:api|access|account|auth|client|private|signing|encryption|service|storage|master|hmac|license|deploy"
    r"|subscription)[_-]?key|(?:auth|access|refresh|bearer|session|security|api|id|identity)[_-]?token)"
)
_ANNOTATED: Final = r":[ \t]{0,4}[A-Za-z_][\w.]{0,40}(?:\[[\w., |]{0,60}\])?[ \t]{0,4}=(?!=)"
_MEANS: Final = (
    rf"[\"'\[\])\\]{{0,6}}[ \t]{{0,4}}(?:[!=]==?|[:?]=|\|\|=|=>?|->|{_ANNOTATED}|:)[ \t]{{0,4}}"
    r"(?:![\w/]{1,20}[ \t]{1,4})?"
)
_GIVEN: Final = (
    r"(?:[\"'][ \t]{0,4},[ \t]{0,4}(?:\w{1,20}=)?|[({][ \t]{0,4}|[ \t]{1,4}"
    r"|[\"']:[ \t]{0,4}\{[\"']\w{1,20}[\"']:[ \t]{0,4})(?=[rbuf]?\\?[\"'][^\"'\s])"
)
_SAID: Final = r"[ \t]{1,4}(?:is[ \t]{1,4}|\d[ \t]{1,4})?(?=[A-Za-z][^\s\"']{0,100}\d)"
_LITERAL: Final = r"[rbuf]?(?:(?P<quote>\"{3}|'{3}|\\?[\"'])(?P<text>(?:(?!(?P=quote))[^\n]){1,4000})(?P=quote))"
_BARE: Final = r"(?P<bare>[^\s\"'`()\[\]{}<>,;.~\\][^\s\"'`()\[\]{}<>,;\\]{5,200})(?=[\s,;\"'\\)\]}&]|$)"

ASSIGNED: Final = re.compile(
    rf"(?P<before>{_SECRET}[\w-]{{0,40}}(?:{_MEANS}|{_GIVEN}|{_SAID}))(?:{_LITERAL}|{_BARE})", re.IGNORECASE
)
"""A name that says what follows it, `db_password`, and a quoted text or a word; after a comma, in a call or a dict
(`setenv('API_KEY', …`, `set_password(…`) only a quoted text, after a blank also a word with a digit in it.
"""

OPTION: Final = re.compile(
    r"(?=[-7abdlmoprstuw])"
    rf"(?P<before>(?<![\w-])--[\w-]{{0,40}}(?:{_SECRET}|token(?=[ \t=]{{1,4}}[\"']?\w{{12}}))[ \t=]{{1,4}}"
    rf"|\b(?:setenv|setx|set -\w{{1,3}})[ \t]{{1,4}}\w{{0,40}}{_SECRET}\w{{0,40}}[ \t]{{1,4}}"
    r"|(?<!\w)(?:bindpw|requirepass|masterauth|pre-shared-key)[ \t]{1,4}"
    r"|\blogin[ \t]{1,4}[^\s\"']{1,100}[ \t]{1,4}password[ \t]{1,4}|\bwandb[ \t]{1,4}login[ \t]{1,4}(?=\w{20})"
    r"|(?<![\w-])(?:-u|--(?:proxy-)?user)[ \t=]{1,4}[\"']?[\w.-]{1,100}:|(?<![\w-])-U[ \t]{1,4}[\w.\\-]{1,100}%"
    r"|\b(?:mysql\w{0,10}|mariadb|7z[ar]?|sshpass|docker login|az login|redis-cli|openssl|ldap\w{1,10}|unzip)\b"
    r"[^\n|;&]{0,100}?[ \t]-[pPakw][ \t]?|\b(?:thin:|(?:sqlplus|sftp)[ \t]{1,4})[\w.-]{1,64}[/:](?=[^\s@/]{4,100}@))"
    r"(?:(?P<quote>[\"'])(?P<text>(?:(?!(?P=quote))[^\n]){3,400})(?P=quote)|(?P<bare>[^\s\"'`|<>&;~-][^\s\"'`|<>;@]{3,400}))",
    re.IGNORECASE,
)
"""What a command line or a file of settings gives to an option: of any program after a telling name, of some known ones
also after one letter.
"""

TAGGED: Final = re.compile(
    rf"(?P<before><[^<>\n]{{0,80}}?{_SECRET}[\w-]{{0,40}}[\"']?(?:>(?=[^<>\n]{{3,400}}</)|[ \t]{{1,4}}value=[\"']?))"
    r"(?P<bare>[^<>\n\"'~]{3,400})",
    re.IGNORECASE,
)
"""The text of an element, or its attribute `value`."""

REVERSED: Final = re.compile(
    r"(?P<before>)(?P<quote>[\"'])(?P<text>(?:(?!(?P=quote))[^\n]){1,400})(?P=quote)"
    rf"(?=[ \t]{{0,4}}[!=]=[ \t]{{0,4}}[\w.]{{0,40}}{_SECRET})",
    re.IGNORECASE,
)
"""A quoted text that is compared with such a name."""

QUERY: Final = re.compile(
    r"(?P<before>[?&](?:code|state|sig|signature|token|key|auth|nonce)=)(?P<bare>[^\s&\"'<>~][^\s&\"'<>]{7,4000})",
    re.IGNORECASE,
)
"""A parameter of a request, without the beginning of a URL."""

TOKEN_ASSIGNED: Final = re.compile(
    rf"(?P<before>(?<![A-Za-z])(?:(?:\w{{0,40}}_)?tokens?|_?auth|private-token|job-token){_MEANS})"
    r"(?:(?P<quote>\\?[\"'])(?P<text>[\w.+/=-]{12,4000})(?P=quote)"
    r"|(?P<bare>(?=[A-Za-z+/=-]{0,100}\d)[A-Za-z0-9+/=-]{20,4000})(?![\w.(\[]))",
    re.IGNORECASE,
)
""""Token" usually refers to the number of a word: only a long quoted text is a credential, or a long word with a digit
and no underscore.
"""

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

CONTAINED: Final = re.compile(
    r"(?P<before>___dict_contains\(b?)(?P<quote>\\?[\"'])(?P<text>(?:(?!(?P=quote))[^\n]){1,4000})(?P=quote)"
)
"""A key that a guard looks for."""

MEMBERS: Final = re.compile(
    r"(?P<before>(?:[!=]=|(?<=\]) (?:not )?in) )(?P<text>[\[({](?=[^\n\])}\"']{0,400}[\"'])[^\n\])}]{1,4000}[\])}])"
)
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
    r"(?P<before>\b(?:Bearer|Basic|Token|ApiKey|Api-Key|Digest|Negotiate|GenieKey|bearer,)[ \t]{1,4})"
    r"(?P<text>[A-Za-z0-9+/_.=~-]{16,4000})"
)
"""The value of an HTTP header."""

HEADER: Final = re.compile(
    r"(?P<before>\b(?:(?:Proxy-)?Authorization|WWW-Authenticate|(?:Ocp-Apim-Subscription|DD-Application)-Key"
    r"|(?:Private|Job|Deploy)-Token|(?:Set-)?Cookie(?=[\"']?[ \t]{0,4}:[ \t]{0,4}[\"']?[\w.-]{1,200}=)"
    r"|X-[A-Za-z-]{0,40}?(?:Key|Token|Auth|Secret)[A-Za-z-]{0,20})[\"']?[ \t]{0,4}:[ \t]{0,4})"
    r"(?P<quote>\\?[\"']?)(?P<text>[^\s\"'\\~](?:[^\n\"'\\]|(?<==)\"[^\"\n]{0,400}\"){5,4000})",
    re.IGNORECASE,
)
"""A header that holds nothing else."""

AWS_SECRET: Final = re.compile(
    r"(?P<before>aws[^\n]{0,30}?(?:key|secret|token|pwd|pass)[^\n]{0,20}?)(?P<quote>\\?[\"'=: ])"
    r"(?P<text>[0-9A-Za-z/+]{40})(?![0-9A-Za-z/+])",
    re.IGNORECASE,
)
