"""Takes secrets out of texts. Pure: text in, text out, and a count of what was taken."""

import re
from collections import Counter
from collections.abc import Callable
from typing import Any, Final
from urllib.parse import unquote

from inspect_compile.facts import Removed
from inspect_compile.share import patterns
from inspect_compile.share.places import Places
from inspect_compile.share.secrets import Secrets, is_absolute

PATHS: Final = "paths"
ARGUMENTS: Final = "arguments"
VARIABLES: Final = "values of variables"
USERS: Final = "user names"
HOSTS: Final = "host names and addresses"
URLS: Final = "URLs and git remotes"
EMAILS: Final = "email addresses"
CREDENTIALS: Final = "credentials"

_HARMLESS_VALUE: Final = re.compile(r"[\d.,:;+-]*|true|false|yes|no|on|off", re.IGNORECASE)
_SET_VARIABLE: Final = re.compile(r"""(os\.environ\[(["'])\w+\2\] = )(["'])(.*)\3""")
_PLACE: Final = re.compile(r"[\w.+@%=~$#/\\:-]+")
_TIMES: Final = 4
_LONGEST_KEPT: Final = 2000
_MOST_KEPT: Final = 20_000
"""Texts whose redaction is kept for the next time: length, and how many."""


class Redactor:
    """Replaces secrets by placeholders, the same one for the same secret. What it made it leaves alone."""

    def __init__(self, secrets: Secrets) -> None:
        self._places = Places(secrets)
        self._numbers: dict[str, dict[str, int]] = {}
        self._counts: Counter[str] = Counter()
        self._examples: dict[str, str] = {}
        self._seen: dict[str, tuple[str, Counter[str]]] = {}
        roots = (*secrets.homes, *secrets.programs, *secrets.cwds, *secrets.caches)
        known = patterns.places((*roots, *secrets.odd))
        self._paths = re.compile(rf"(?:{known})(?:[\\/]+{patterns.PART})*|(?:{patterns.PATH})", re.IGNORECASE)
        self._steps: list[tuple[re.Pattern[str], Callable[[re.Match[str]], str]]] = [
            (patterns.CREDENTIAL, lambda found: self._took(CREDENTIALS, "~credential")),
            (patterns.URL, self._url),
            (patterns.GIT, lambda found: self._numbered(URLS, "~git-", found[0])),
            (patterns.EMAIL, lambda found: self._numbered(EMAILS, "~email-", found[0])),
            (self._paths, self._path),
            (patterns.ADDRESS, lambda found: self._numbered(HOSTS, "~address-", found[0])),
            *self._words(secrets.values, ARGUMENTS, "VALUE"),
            *self._words(secrets.hosts, HOSTS, "HOST"),
            *self._words(secrets.users, USERS, "USER"),
        ]

    def text(self, text: str) -> str:
        """`text` without secrets."""
        kept = self._seen.get(text)
        if kept is not None:
            self._counts.update(kept[1])
            return kept[0]
        before = self._counts.copy()
        earlier, found = text, self._once(text)
        for _ in range(_TIMES):  # what a placeholder made room for: two paths without a space between them, say
            if found == earlier:
                break
            earlier, found = found, self._once(found)
        if len(text) <= _LONGEST_KEPT:
            if len(self._seen) >= _MOST_KEPT:
                self._seen.clear()
            self._seen[text] = found, self._counts - before
        return found

    def _once(self, text: str) -> str:
        for pattern, placeholder in self._steps:
            text = pattern.sub(placeholder, text)
        return text

    def line(self, line: str) -> str:
        """A line of a program text: also without the values of variables that it sets."""
        return self.text(_SET_VARIABLE.sub(lambda found: f"{found[1]}{found[3]}{self.value(found[4])}{found[3]}", line))

    def json(self, value: Any) -> Any:
        """A JSON value of which every text is redacted, keys too."""
        match value:
            case str():
                return self.text(value)
            case dict():
                return {self.text(key): self.json(item) for key, item in value.items()}
            case list():
                return [self.json(item) for item in value]
            case _:
                return value

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
        """The value of a variable: a path in short, a number or a switch as it is."""
        is_place = (is_absolute(value) or value.startswith("~")) and _PLACE.fullmatch(value)
        if is_place or _HARMLESS_VALUE.fullmatch(value):
            return self.text(value)
        return self._took(VARIABLES, "~value")

    def removed(self) -> tuple[Removed, ...]:
        """What was taken out, the most frequent first."""
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
        short = self._places.short(path)
        return (whole if short == path else self._took(PATHS, short)) + found[0][len(whole) :]

    def _url(self, found: re.Match[str]) -> str:
        whole = found[0].rstrip(".,;:!?")
        rest = found[0][len(whole) :]
        if whole.startswith(patterns.PUBLIC_URLS):
            return found[0]
        if whole.startswith("file:///"):
            return f"file://{self._took(PATHS, self._places.short(whole[7:]))}{rest}"
        return self._numbered(URLS, "~url-", whole) + rest

    def _words(
        self, names: tuple[str, ...], kind: str, placeholder: str
    ) -> list[tuple[re.Pattern[str], Callable[[re.Match[str]], str]]]:
        """Without a number for the first, `USER`, so that most texts stay easy to read."""
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
    """A path as it is: a text may hold it with its backslashes doubled, or escaped as in a URL or in JSON."""
    return unquote(re.sub(r"\\u[0-9a-fA-F]{4}|\\x[0-9a-fA-F]{2}", lambda found: chr(int(found[0][2:], 16)), path))
