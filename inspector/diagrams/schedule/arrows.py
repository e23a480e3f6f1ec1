"""The arrows of each section, and the small boxes that they need: inputs, outputs, references to other sections."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal

from inspect_compile.diagrams.picture import Arrow, Box
from inspect_compile.diagrams.schedule import words
from inspect_compile.diagrams.schedule.boxes import Boxes
from inspect_compile.diagrams.schedule.stacking import below
from inspect_compile.diagrams.schedule.units import OUTPUT, Group, Link, Read, Schedule, Unit
from inspect_compile.facts import Access, Operation
from inspect_compile.graph import CompiledGraph, Id, gathered, operations_in
from inspect_compile.graph.fusion.ledger import Candidate, candidates
from inspect_compile.tables.text import byte_text

if TYPE_CHECKING:
    from inspect_compile.dump import Dump

NOT_DRAWN = -1


@dataclass
class SectionArrows:
    """The connections between the boxes of one section."""

    arrows: list[Arrow] = field(default_factory=list)
    before: dict[Id, list[Box]] = field(default_factory=dict)
    """First group of a unit → boxes above it."""
    after: dict[Id, list[Box]] = field(default_factory=dict)


class Arrows:
    """The arrows of a whole schedule, by section."""

    def __init__(self, schedule: Schedule, boxes: Boxes, section_of: dict[Id, int]) -> None:
        self._schedule = schedule
        self._boxes = boxes
        self._section_of = section_of
        self._operations = {Id.of(operation): operation for unit in schedule.units for operation in unit.operations()}
        self._unit_of = {group.key: unit for unit in schedule.units for group in unit.groups}
        self._ins: dict[int, list[Link]] = {}
        self._outs: dict[int, list[Link]] = {}
        self._ins_of: dict[Id, list[Link]] = {}
        for link in schedule.links:
            self._ins_of.setdefault(link.head, []).append(link)
            self._ins.setdefault(self._section(link.head), []).append(link)
            if self._section(link.tail) != self._section(link.head):
                self._outs.setdefault(self._section(link.tail), []).append(link)
        self.folded: dict[Id, list[Access]] = {}
        """Operation → the inputs listed in its box."""
        self._inputs: dict[int, dict[Id, list[Read]]] = {}
        self._sort_inputs()

    def of_section(self, number: int, units: Iterable[Unit]) -> SectionArrows:
        """All arrows of a section; those from and to other sections are replaced by references, or left out where each
        kernel stands alone.
        """
        found = SectionArrows()
        for key, reads in self._inputs.get(number, {}).items():
            self._input(found, number, key, reads)
        for link in self._ins.get(number, []):
            if not self._boxes.copies or self._section(link.tail) == number:
                self._link(found, number, link)
        if self._boxes.copies:
            return found
        for unit in units:
            for group in unit.groups:
                self._outputs(found, group)
        leaving = gathered((link.tail, link) for link in self._outs.get(number, []) if not link.is_order)
        for tail, links in leaving.items():
            self._leave(found, tail, links)
        for key, graph in self._schedule.calls:
            if self._section(key) == number:
                self._call(found, number, key, graph)
        return found

    def pairs(self, dump: "Dump", kind: Literal["refused", "joined"] | None) -> dict[int, list[Arrow]]:
        """Section → the pairs of its operations that the scheduler refused to fuse, or fused."""
        return {"refused": self._refused, "joined": self._joined}[kind](dump) if kind is not None else {}

    def _refused(self, dump: "Dump") -> dict[int, list[Arrow]]:
        reasons: dict[tuple[Id, Id], list[Candidate]] = {}
        for attempt in candidates(CompiledGraph(dump, self._boxes.graph)):
            a, b = Id(attempt.graph, attempt.a), Id(attempt.graph, attempt.b)
            if attempt.verdict == "refused" and self._section(a) == self._section(b) != NOT_DRAWN:
                reasons.setdefault((a, b), []).append(attempt)
        found: dict[int, list[Arrow]] = {}
        for (a, b), attempts in reasons.items():
            rounds = dict.fromkeys(f"round {attempt.round}: {attempt.reason or attempt.code}" for attempt in attempts)
            tooltip = words.tooltip([f"{a[1]} and {b[1]} were not fused", *rounds])
            arrow = Arrow(self._boxes.id(a), self._boxes.id(b), "refused", tooltip=tooltip)
            found.setdefault(self._section(a), []).append(arrow)
        return found

    def _joined(self, dump: "Dump") -> dict[int, list[Arrow]]:
        """Between two operations of a fused pair, if there are such, one of which reads the other."""
        found: dict[int, list[Arrow]] = {}
        for row in candidates(CompiledGraph(dump, self._boxes.graph)):
            if row.verdict != "fused":
                continue
            one, other = (
                [key for name in operations_in(side) if self._section(key := Id(row.graph, name)) != NOT_DRAWN]
                for side in (row.a, row.b)
            )
            if one and other:
                tail, head = self._reading(one, other) or (one[-1], other[0])
                if self._section(tail) != self._section(head):  # only a damaged dump has them in two kernels
                    continue
                tooltip = [f"{row.a} and {row.b} were fused in round {row.round}", row.kind]
                tooltip += [f"they share {byte_text(row.shared_bytes)}"] if row.shared_bytes else []
                label = (f"round {row.round}",)
                arrow = Arrow(self._boxes.id(tail), self._boxes.id(head), "joined", label, words.tooltip(tooltip))
                found.setdefault(self._section(tail), []).append(arrow)
        return found

    def _reading(self, one: list[Id], other: list[Id]) -> tuple[Id, Id] | None:
        """The first two operations of both of which one reads the other."""
        first, second = set(one), set(other)
        for key in (*other, *one):
            for link in self._ins_of.get(key, []):
                if {link.tail, key} & first and {link.tail, key} & second:
                    return link.tail, key
        return None

    def below(self, units: list[Unit]) -> tuple[tuple[str, str], ...]:
        """Pairs of a section's boxes that are placed below each other without an arrow."""
        links = [link for unit in units for operation in unit.operations() for link in self._into_operation(operation)]
        return tuple((self._boxes.id(above), self._boxes.id(under)) for above, under in below(units, links))

    def _into_operation(self, operation: Operation) -> list[Link]:
        return self._ins_of.get(Id.of(operation), [])

    def _section(self, key: Id) -> int:
        return self._section_of.get(key, NOT_DRAWN)

    def _sort_inputs(self) -> None:
        """Decide which inputs get a box: the arguments of the call, and what several operations read."""
        fed = {link.group for link in self._schedule.links if not link.is_order}
        for key, reads in self._schedule.reads.items():
            known = self._boxes.inputs.get(key[0], {}).get(key[1])
            role = known.role if known is not None else "unknown"
            groups = {self._group(operation).key for operation, _ in reads}
            has_box = role in ("input", "gradient") or (role in ("saved", "unknown") and len(groups) > 1)
            if role == "unknown" and groups.isdisjoint(fed):
                has_box = True
            has_box &= not self._boxes.copies
            for operation, access in reads:
                of = Id.of(operation)
                if has_box:
                    self._inputs.setdefault(self._section(of), {}).setdefault(key, []).append((operation, access))
                elif access.buffer not in {other.buffer for other in self.folded.get(of, [])}:
                    self.folded.setdefault(of, []).append(access)

    def _group(self, operation: Operation) -> Group:
        return self._schedule.group_of[Id.of(operation)]

    def _first_key(self, group: Group) -> Id:
        return self._unit_of[group.key].groups[0].key

    def _into(self, group: Group, tail: Group | None = None) -> str | None:
        unit = self._unit_of[group.key]
        return self._boxes.into(unit, group, is_inside=tail is not None and self._unit_of[tail.key] is unit)

    def _input(self, found: SectionArrows, number: int, key: Id, reads: list[Read]) -> None:
        box = self._boxes.input(key, number, reads)
        found.before.setdefault(self._first_key(self._group(reads[0][0])), []).append(box)
        by_group = gathered((self._group(operation).key, (operation, access)) for operation, access in reads)
        for own in by_group.values():
            operation = own[0][0]
            head, into = self._boxes.id(Id.of(operation)), self._into(self._group(operation))
            found.arrows.append(_stored(box.id, head, {key[1]: most(own)}, words.reads(own), into))

    def _link(self, found: SectionArrows, number: int, link: Link) -> None:
        section = self._section(link.tail)
        tail = self._boxes.id(link.tail)
        group = self._schedule.group_of[link.head]
        if section != number:
            if link.is_order:
                return
            box = self._boxes.elsewhere("from", link.tail, [section], number, [link.tail[1]])
            before = found.before.setdefault(self._first_key(group), [])
            if not any(box.id == other.id for boxes in found.before.values() for other in boxes):
                before.append(box)
            tail = box.id
        is_inside = self._schedule.group_of[link.tail] is group
        into = None if is_inside else self._into(group, self._schedule.group_of[link.tail])
        sizes = {buffer: most(reads) for buffer, reads in link.reads.items()}
        producer = self._operations[link.tail]
        is_kept = (
            not link.is_order
            and self._unit_of[link.group] is self._unit_of[self._schedule.group_of[link.tail].key]
            and not any(self._schedule.is_stored(link.tail[0], buffer) for buffer in sizes)
        )
        reads = [read for own in link.reads.values() for read in own]
        places = [
            f"{link.tail[1]} → {', '.join(dict.fromkeys(operation.name for operation, _ in reads)) or link.head[1]}"
        ]
        if link.is_order:
            places.append("only the order counts")
        if is_kept:
            places.append("never stored: it stays inside the kernel")
        if not self._boxes.is_brief:
            places += [f"written {words.index_text(access)}" for access in producer.writes if access.buffer in sizes]
            places += words.reads(reads)
        arrow = _stored(tail, self._boxes.id(link.head), sizes, places, into)
        if link.is_order:
            arrow = replace(arrow, kind="order", lines=(), bytes=0)
        found.arrows.append(replace(arrow, kind="kept", bytes=0) if is_kept else arrow)

    def _outputs(self, found: SectionArrows, group: Group) -> None:
        given = [operation for operation in group.operations if OUTPUT in operation.users]
        if not given:
            return
        box = self._boxes.output(group, given)
        found.after.setdefault(self._first_key(group), []).append(box)
        for operation in given:
            sizes = {access.buffer: access.bytes for access in operation.writes}
            writes = [f"{operation.name} writes {words.index_text(access)}" for access in operation.writes]
            found.arrows.append(_stored(self._boxes.id(Id.of(operation)), box.id, sizes, writes))

    def _leave(self, found: SectionArrows, tail: Id, links: list[Link]) -> None:
        ends = list(dict.fromkeys(link.head[1] for link in links))
        sections = sorted({self._section(link.head) for link in links} - {NOT_DRAWN})
        box = self._boxes.elsewhere("to", tail, sections, self._section(tail), ends)
        group = self._schedule.group_of[tail]
        found.after.setdefault(self._first_key(group), []).append(box)
        sizes = {buffer: most(reads) for link in links for buffer, reads in link.reads.items()}
        found.arrows.append(_stored(self._boxes.id(tail), box.id, sizes, [f"{tail[1]} → {', '.join(ends)}"]))

    def _call(self, found: SectionArrows, number: int, key: Id, graph: str) -> None:
        first = next(
            (
                operation
                for unit in self._schedule.units
                if unit.graph == graph
                for operation in unit.operations()
                if self._section(Id(graph, operation.name)) == number
            ),
            None,
        )
        if first is not None:
            found.arrows.append(
                Arrow(
                    self._boxes.id(key),
                    self._boxes.id(Id(graph, first.name)),
                    "call",
                    ("runs",),
                    words.tooltip([f"{key[1]} runs {graph}"]),
                    into=self._boxes.nested_id(graph, number),
                )
            )


def _stored(tail: str, head: str, sizes: dict[str, int | None], tooltip: list[str], into: str | None = None) -> Arrow:
    """An arrow for buffers in memory and their bytes."""
    size = sum(size or 0 for size in sizes.values())
    return Arrow(tail, head, "stored", words.buffer_lines(sizes), words.tooltip(tooltip), size, into)


def most(reads: list[Read]) -> int | None:
    """Bytes of a buffer of which several readers may read a part; None if not known."""
    return max((access.bytes for _, access in reads if access.bytes is not None), default=None)
