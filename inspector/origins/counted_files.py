"""What an origin of many files held, and the end of the dump that is made of it."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from inspect_compile.dump import paths
from inspect_compile.dump.writer import Writer
from inspect_compile.errors import DumpError
from inspect_compile.facts import Artifact, OriginRecords, Run
from inspect_compile.knowledge.origins import note

MOST_TEXT: Final = 400_000
"""Characters of a text that are kept."""


@dataclass
class Counted:
    """What a cache held."""

    files: Counter[str] = field(default_factory=Counter)
    """Kind of file → number."""
    bytes: Counter[str] = field(default_factory=Counter)
    unread: Counter[str] = field(default_factory=Counter)
    """Why something could not be read → number."""
    what: str = "files"
    """What that is."""

    def add(self, what: str, size: int) -> None:
        """Count one file."""
        self.files[what] += 1
        self.bytes[what] += size

    def facts(self, became: Mapping[str, str]) -> Iterator[OriginRecords]:
        """What became of each kind."""
        for what, count in sorted(self.files.items()):
            yield OriginRecords(what=what, count=count, bytes=self.bytes[what], became=became.get(what, "counted"))
        for why, count in sorted(self.unread.items()):
            yield OriginRecords(what=f"{self.what}: {why}", count=count, became="not read")


def kept_text(name: str, text: str, graph: str = "") -> Artifact:
    """A text that is kept as it is, as much of it as a dump holds."""
    return Artifact(graph=graph, name=name, text=text[:MOST_TEXT], cut=max(0, len(text) - MOST_TEXT))


def main_device(devices: Iterable[str]) -> str:
    """The first that is no CPU, if there is one."""
    return next((device for device in devices if device not in ("", "cpu")), "cpu")


def finish(
    writer: Writer,
    records: Iterable[OriginRecords],
    origin: str,
    name: str,
    versions: Mapping[str, str],
    device: str,
    notes: Iterable[str] = (),
) -> None:
    """Write what was in the origin, and the run of the dump. Raises DumpError if something could not be written."""
    for record in records:
        writer.add(record)
    writer.flush()
    writer.run(
        Run(
            status="finished",
            origin=origin,
            argv=(name,),
            versions=dict(versions),
            device=device or "cpu",
            notes=(note(origin), *notes),
        )
    )
    if writer.trouble:
        raise DumpError("not writable", writer.trouble, str(writer.root))
    (writer.root / paths.FINISHED).touch()
