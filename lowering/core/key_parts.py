"""Records the parts of the keys of torch's caches, each once."""

from typing import Final

from inspect_compile.facts import Fact, KeyPart
from inspect_compile.knowledge.caches.key_lines import KeyPartLines
from inspect_compile.probe import Probes

_MOST_MEMBERS: Final = 100_000
"""Maximum number of members that are kept of all keys of a process; of later parts only the checksums are."""


class RecordedParts:
    """The parts that the dump has: most are the same in all keys of a process."""

    def __init__(self) -> None:
        self.forget()

    def facts(self) -> list[Fact]:
        """Empty: each part is recorded when it is first met."""
        return []

    def forget(self) -> None:
        """Another dump begins: nothing is recorded in it yet."""
        self._recorded: set[tuple[str, str]] = set()
        self._members = 0

    def record(self, probes: Probes, found: dict[str, KeyPartLines]) -> dict[str, str]:
        """Record the parts that the dump does not have. Returns part → checksum."""
        checksums = {name: part.checksum for name, part in found.items()}
        for one in checksums.items():
            if one not in self._recorded and self._members < _MOST_MEMBERS:
                self._recorded.add(one)
                name, checksum = one
                members = found[name].members()
                self._members += len(members)
                probes.sink.add(KeyPart(name=name, checksum=checksum, members=members))
        return checksums


PARTS = RecordedParts()
"""The parts of this process."""
