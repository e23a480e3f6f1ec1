"""Removes secrets from texts. Pure: text in, text out, and counts of what was removed."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Final
from urllib.parse import unquote

from inspect_compile.facts import Removed
from inspect_compile.share import credentials, encodings, patterns
from inspect_compile.share.names import NAMES, WORD, Names
from inspect_compile.share.places import PathShortener
from inspect_compile.share.secrets import Secrets, is_absolute

PATHS: Final = "paths"
ARGUMENTS: Final = "arguments"
VARIABLES: Final = "values of variables"
USERS: Final = "user names"
HOSTS: Final = "host names and addresses"
URLS: Final = "URLs and git remotes"
EMAILS: Final = "email addresses"
CREDENTIALS: Final = "credentials"
ENCODED: Final = "encoded texts"

_HARMLESS_VALUE: Final = re.compile(r"[\d.,:;+-]*|true|false|yes|no|on|off", re.IGNORECASE)
_SET_VARIABLE: Final = re.compile(r"""(os\.environ\[(["'])\w+\2\] = )(["'])(.*)\3""")
_PLACE: Final = re.compile(r"[\w.+@%=~$#/\\:-]+")
_BEHIND: Final = (
    credentials.HEADER,
    credentials.TAGGED,
    credentials.REVERSED,
    credentials.ASSIGNED,
    credentials.SHORT_ASSIGNED,
    credentials.TOKEN_ASSIGNED,
    credentials.OPTION,
    credentials.QUERY,
    credentials.AWS_SECRET,
    credentials.AUTHORIZATION,
    credentials.COMPARED,
    credentials.CONTAINED,
    credentials.CHANGED,
    credentials.MEMBERS,
)
"""Patterns with a group `before` that is kept, and a group with the secret."""
_COMPARISONS: Final = (credentials.COMPARED, credentials.CONTAINED, credentials.CHANGED, credentials.MEMBERS)
"""Those of them for values of variables."""
_TOLERANT: Final = (*_COMPARISONS, credentials.ASSIGNED, credentials.SHORT_ASSIGNED, credentials.OPTION)
"""Those of them after whose names numbers and switches may follow too."""
_OF_VARIABLES: Final = frozenset({"value", "before", "after"})
"""Fields with the value of a variable that a guard compares."""
_OF_TORCH: Final = re.compile(
    r"(?:_dynamo|_inductor|_functorch|_higher_order_ops|_refs|_prims|_prims_common|_decomp|_export|_subclasses|autograd"
    r"|cuda|distributed|export|functional|fx|jit|nn|optim|utils)/"
)
"""How a file of torch begins where its path lacks that of torch."""
_LONGEST_CHANCE: Final = 5
"""Maximum length in characters of a name that may stand in decoded bytes by chance."""
_OF_THE_PROGRAM: Final = re.compile(r"~(?:program|cwd|home|tmp|dir-)\d*/")
"""How the short form of a path begins whose components are names of the program."""
_LONGEST_BLOCK: Final = 100_000
"""Maximum number of lines that are processed together."""
_TIMES: Final = 4
_LONGEST_KEPT: Final = 2000
_MOST_KEPT: Final = 20_000
"""Limits on cached redactions: length of a text, and number of texts."""


class Redactor:
    """Replaces secrets by placeholders, equal ones for equal secrets. Placeholders are left alone.

    With `names`, those of the program are replaced, too.
    """

    def __init__(self, secrets: Secrets, names: Names | None = None) -> None:
        self._names = names
        self._is_decoding = False
        self._places = PathShortener(secrets)
        self._numbers: dict[str, dict[str, int]] = {}
        self._counts: Counter[str] = Counter()
        self._examples: dict[str, str] = {}
        self._seen: dict[tuple[str, bool], tuple[str, Counter[str]]] = {}
        roots = (*secrets.homes, *secrets.programs, *secrets.cwds, *secrets.caches)
        known = patterns.places((*roots, *secrets.odd))
        self._paths = re.compile(rf"(?:{known})(?:[\\/]+{patterns.PART})*+|(?:{patterns.PATH})", re.IGNORECASE)
        folders = patterns.headless((*roots, *secrets.odd, *secrets.folders))
        self._headless = {_folded(tail): root for tail, root in folders.items()}
        self._steps: list[tuple[re.Pattern[str], Callable[[re.Match[str]], str]]] = [
            (credentials.PEM, self._pem),
            (credentials.TOKEN, lambda found: self._took(CREDENTIALS, "~credential")),
            (patterns.URL, self._url),
            (patterns.GIT, lambda found: self._numbered(URLS, "~git-", found[0])),
            (patterns.EMAIL, lambda found: self._numbered(EMAILS, "~email-", found[0])),
            *((pattern, self._behind) for pattern in _BEHIND),
            (self._paths, self._path),
            (patterns.GUARDED, self._headless_path),
            (credentials.KEY, lambda found: self._numbered(CREDENTIALS, "~key-", found[0])),
            (patterns.ADDRESS, lambda found: self._numbered(HOSTS, "~address-", found[0])),
            *self._words(secrets.values, ARGUMENTS, "VALUE"),
            *self._words(secrets.hosts, HOSTS, "HOST"),
            *self._words(secrets.users, USERS, "USER"),
            *([] if names is None else [(WORD, lambda found: self._name(names, found[0]))]),
        ]

    def text(self, text: str) -> str:
        """`text` without secrets."""
        kept = self._seen.get((text, self._is_decoding))
        if kept is not None:
            self._counts.update(kept[1])
            return kept[0]
        before = self._counts.copy()
        earlier, found = text, self._once(text)
        for _ in range(_TIMES):  # what a placeholder made room for, such as two paths without a space between them
            if found == earlier:
                break
            earlier, found = found, self._once(found)
        if len(text) <= _LONGEST_KEPT:
            if len(self._seen) >= _MOST_KEPT:
                self._seen.clear()
            self._seen[text, self._is_decoding] = found, self._counts - before
        return found

    def _once(self, text: str) -> str:
        for pattern, placeholder in self._steps:
            text = pattern.sub(placeholder, text)
        return encodings.rewritten(text, self._decoded, self._encoded)

    def _decoded(self, text: str) -> str:
        """`text`, which was encoded in another one: what is removed from it is not counted."""
        before, is_decoding = self._counts.copy(), self._is_decoding
        self._is_decoding = True
        found = self.text(text)
        self._counts, self._is_decoding = before, is_decoding
        return found

    def _encoded(self, is_text: bool) -> str:
        return self._took(ENCODED, "~encoded" if is_text else "~left-out")

    def lines(self, lines: Iterable[str]) -> Iterator[str]:
        """The lines of a file, with line ends: what spans several lines is processed as one text, and gives as many
        lines.
        """
        waiting: list[str] = []
        is_key = False
        for line in lines:
            is_bytes = ".b" in line and encodings.DIRECTIVE.fullmatch(line) is not None
            begins = credentials.PEM_BEGINS.search(line) is not None
            if waiting and not is_key and not is_bytes:
                yield self.text("".join(waiting))
                waiting = []
            if is_key or begins or is_bytes:
                waiting.append(line)
                is_key = (is_key or begins) and not credentials.PEM_ENDS.search(line)
                if (not is_key and not is_bytes) or len(waiting) > _LONGEST_BLOCK:
                    yield self.text("".join(waiting))
                    waiting, is_key = [], False
            else:
                bare = line.rstrip("\r\n")
                yield self.line(bare) + line[len(bare) :]
        yield self.text("".join(waiting))

    def line(self, line: str) -> str:
        """A line of source code: also without the values of variables that it sets."""
        return self.text(_SET_VARIABLE.sub(lambda found: f"{found[1]}{found[3]}{self.value(found[4])}{found[3]}", line))

    def json(self, value: Any) -> Any:
        """A JSON value with all its texts redacted, including keys."""
        match value:
            case str():
                return self.text(value)
            case dict():
                return {self.text(key): self._field(key, item) for key, item in value.items()}
            case list():
                return [self.json(item) for item in value]
            case _:
                return value

    def _field(self, key: str, value: Any) -> Any:
        """The value of a field: a quoted text only if torch itself has it."""
        if key in _OF_VARIABLES and isinstance(value, str) and credentials.LITERAL.fullmatch(value):
            bare = value.lstrip("rbuf")
            if not credentials.WORDS_OF_TORCH.fullmatch(bare[1:-1]) and not bare[1:].startswith("~"):
                return f"{value[: len(value) - len(bare)]}{bare[0]}{self._took(VARIABLES, '~value')}{bare[0]}"
        return self.json(value)

    def run(self, run: dict[str, Any]) -> dict[str, Any]:
        """The contents of run.json: also without arguments and the values of variables."""
        found: dict[str, Any] = self.json(
            {key: value for key, value in run.items() if key not in ("argv", "environment")}
        )
        if argv := run.get("argv"):
            found["argv"] = self._argv([str(word) for word in argv])
        if environment := run.get("environment"):
            found["environment"] = {self.text(name): self.value(str(value)) for name, value in environment.items()}
        return {key: found.get(key, value) for key, value in run.items()}

    def value(self, value: str) -> str:
        """The value of a variable: a path in short form; a number or a switch unchanged."""
        is_place = (is_absolute(value) or value.startswith("~")) and _PLACE.fullmatch(value)
        if is_place or _HARMLESS_VALUE.fullmatch(value):
            return self.text(value)
        return self._took(VARIABLES, "~value")

    def removed(self) -> tuple[Removed, ...]:
        """What was removed, most frequent first."""
        ordered = sorted(self._counts.items(), key=lambda item: (-item[1], item[0]))
        return tuple(Removed(kind, count, self._examples[kind]) for kind, count in ordered)

    def _argv(self, argv: list[str]) -> list[str]:
        script, rest = re.split(r"[\\/]", argv[0])[-1], argv[1:]
        if not rest or (len(rest) == 1 and re.fullmatch(r"~\d+ arguments?", rest[0])):
            return [self.text(script), *rest]
        stands = f"~{len(rest)} argument{'s' * (len(rest) > 1)}"
        self._counts[ARGUMENTS] += len(rest)
        self._examples[ARGUMENTS] = stands
        return [self.text(script), stands]

    def _path(self, found: re.Match[str]) -> str:
        whole = found[0].rstrip(".")
        path = _unescaped(whole)
        short = self._short(path)
        return (whole if short == path else self._took(PATHS, short)) + found[0][len(whole) :]

    def _short(self, path: str) -> str:
        short = self._places.short(path)
        return self._names.path(short) if self._names is not None and _OF_THE_PROGRAM.match(short) else short

    def _name(self, names: Names, word: str) -> str:
        """The replacement for a name in it."""
        found = names.word(word)
        if found == word or (self._is_decoding and len(word) <= _LONGEST_CHANCE):
            return word
        self._took(NAMES, "name1x")
        return found

    def _headless_path(self, found: re.Match[str]) -> str:
        """The short form of the directory whose end it is, or that is below one; a number if none is known."""
        if _OF_TORCH.match(found["folder"]):
            return found[0]
        folder, name = _unescaped(found["folder"]).rstrip("/"), _unescaped(found["name"])
        parts = folder.split("/")
        for count in range(len(parts), 0, -1):
            root = self._headless.get(_folded("/".join(parts[:count])))
            if root is not None:
                return self._took(PATHS, self._short("/".join((root, *parts[count:], name))))
        return self._took(PATHS, self._short(f"/{folder}/{name}"))

    def _pem(self, found: re.Match[str]) -> str:
        """A placeholder with as many lines as the key had."""
        return self._took(CREDENTIALS, "~credential") + "\n" * found[0].count("\n")

    def _behind(self, found: re.Match[str]) -> str:
        """The replacement for what follows a telling name; a placeholder is kept."""
        parts = found.groupdict()
        secret = parts.get("text") or parts.get("bare") or ""
        if secret.startswith("~") or (found.re in _TOLERANT and _HARMLESS_VALUE.fullmatch(secret)):
            return found[0]
        quote = parts.get("quote") or ""
        if found.re in _COMPARISONS and credentials.WORDS_OF_TORCH.fullmatch(secret):
            return found[0]
        kind, stands = (VARIABLES, "~value") if found.re in _COMPARISONS else (CREDENTIALS, "~credential")
        closing = quote if found[0].endswith(quote) and quote else ""
        return f"{found['before']}{quote}{self._took(kind, stands)}{closing}"

    def _url(self, found: re.Match[str]) -> str:
        whole = found[0].rstrip(".,;:!?")
        rest = found[0][len(whole) :]
        if whole.startswith(patterns.PUBLIC_URLS):
            page, mark, query = whole.partition("?")
            if not mark or query.startswith("~"):
                return found[0]
            return f"{page}?{self._took(URLS, '~query')}{rest}"
        if whole.startswith("file:///"):
            return f"file://{self._took(PATHS, self._short(whole[7:]))}{rest}"
        return self._numbered(URLS, "~url-", whole) + rest

    def _words(
        self, names: tuple[str, ...], kind: str, placeholder: str
    ) -> list[tuple[re.Pattern[str], Callable[[re.Match[str]], str]]]:
        """Without a number for the first, `USER`, so that most texts stay readable."""
        if not names:
            return []
        pattern = re.compile(patterns.words(names), re.IGNORECASE)
        return [(pattern, lambda found: self._numbered(kind, placeholder, found[0], first=""))]

    def _numbered(self, kind: str, placeholder: str, secret: str, first: str = "1") -> str:
        known = self._numbers.setdefault(placeholder, {})
        number = known.setdefault(secret, len(known) + 1)
        return self._took(kind, f"{placeholder}{number if number > 1 else first}")

    def _took(self, kind: str, placeholder: str) -> str:
        self._counts[kind] += 1
        self._examples.setdefault(kind, placeholder)
        return placeholder


def _unescaped(path: str) -> str:
    """The plain path: a text may contain it with doubled backslashes, or escaped as in a URL or in JSON."""
    return unquote(re.sub(r"\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}", lambda found: chr(int(found[0][2:], 16)), path))


def _folded(path: str) -> str:
    """The same for all ways to write it."""
    return unicodedata.normalize("NFC", path).lower()
