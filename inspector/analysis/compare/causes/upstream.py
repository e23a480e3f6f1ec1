"""Where a difference of FX nodes begins: the program, Dynamo, AOTAutograd, its partitioner, or a pass."""

from collections.abc import Hashable, Iterable, Iterator
from typing import Final, NamedTuple

from inspect_compile.analysis.compare.causes.alignment import Key, results_of
from inspect_compile.analysis.compare.causes.finding import Finding
from inspect_compile.analysis.compare.causes.sources import Edit, edit_finding
from inspect_compile.analysis.compare.causes.stages import LOWERED, Half, Origin, Stages
from inspect_compile.facts import Location, Node, Pass
from inspect_compile.graph import few, grouped
from inspect_compile.knowledge.frontend.own_code import own_line

_MOST_TOLD: Final = 2
_MOST: Final = 6
"""Nodes that are told of one side."""


class _Part(NamedTuple):
    """The nodes of one region that differ."""

    a: tuple[Key, ...]
    b: tuple[Key, ...]


class Upstream:
    """The FX graphs of one compile on both sides."""

    def __init__(self, stages: Stages) -> None:
        self._stages = stages
        self._origins: dict[tuple[Key, bool], Origin] = {}

    def findings(self, ours: Iterable[Key], theirs: Iterable[Key]) -> list[Finding]:
        """The causes of what differs among these lowered nodes, or those next to them, at the earliest stage."""
        part = _Part(tuple(self._differing(ours, is_b=False)), tuple(self._differing(theirs, is_b=True)))
        origins = [self._origin(key, is_b) for is_b, keys in ((False, part.a), (True, part.b)) for key in keys]
        order = self._stages.compared.index
        first = min((one.stage for one in origins), key=order, default=LOWERED)
        # What differs at a later stage in the same kernels can follow from what differs at the earliest one.
        chosen = [one for one in dict.fromkeys(origins) if one.stage == first or self._is_own(one, first)]
        chosen.sort(key=lambda one: order(one.stage))
        return [self._finding(key, same, part) for key, same in grouped(chosen, self._key).items()]

    def _is_own(self, origin: Origin, first: str) -> bool:
        """Does it follow from nothing that differs at the stage `first`? It does not if a pass made it that only one
        side ran; nor, of a line or of Dynamo, if neither what it comes from nor what stands beside that differs. How
        forward and backward are cut decides over everything behind.
        """
        half = self._stages.b if origin.is_b else self._stages.a
        touched = half.touched.get(origin.key[1], ()) if origin.stage == LOWERED else ()
        if any(row.name not in self._stages.ran[not origin.is_b] for row in touched):
            return True
        known = list(self._before(half, origin)) if first == "dynamo" else []
        return bool(known) and not any(self._differs_near(stage, key, is_b=origin.is_b) for stage, key in known)

    def _before(self, half: Half, origin: Origin) -> Iterator[tuple[str, Key]]:
        """The nodes of earlier stages that it comes from, each with its stage."""
        ref = half.ref(origin.stage, origin.key)
        for link in () if ref is None else half.lineage.ancestors(ref):
            if link.kin.stage in self._stages.compared:
                key = half.lineage.path(link.kin), link.kin.name
                if key in half.sides[link.kin.stage].nodes:
                    yield link.kin.stage, key

    def _differs_near(self, stage: str, key: Key, *, is_b: bool) -> bool:
        aligned = self._stages.at(stage)
        side = aligned.b if is_b else aligned.a
        return any(aligned.kind(one, is_b=is_b) for one in (key, *side.near(key)))

    def _differing(self, keys: Iterable[Key], *, is_b: bool) -> Iterator[Key]:
        """Those that differ; without any, those next to them that do."""
        aligned, keys = self._stages.at(LOWERED), list(keys)
        side = aligned.b if is_b else aligned.a
        own = [key for key in keys if aligned.kind(key, is_b=is_b)]
        near = dict.fromkeys(one for key in keys for one in side.near(key) if aligned.kind(one, is_b=is_b))
        yield from own or (key for key in near if side.nodes[key].op != "output")

    def _origin(self, key: Key, is_b: bool) -> Origin:
        if (key, is_b) not in self._origins:
            self._origins[key, is_b] = self._stages.origin(key, is_b=is_b)
        return self._origins[key, is_b]

    def _key(self, origin: Origin) -> Hashable:
        """Equal for origins that have one cause."""
        node = self._stages.node(origin)
        edit = self._stages.edit(origin)
        if edit is not None:
            return edit
        if origin.stage == "dynamo":
            return "dynamo", _place(node.where) or node.target
        return origin.stage, self._made_of(origin)

    def _made_of(self, origin: Origin) -> str:
        """What the program called there: Dynamo's nodes; else the operator that torch says it was decomposed from."""
        half = self._stages.b if origin.is_b else self._stages.a
        ref = half.ref(origin.stage, origin.key)
        links = [] if ref is None else [link for link in half.lineage.ancestors(ref) if link.kin.stage == "dynamo"]
        targets = [half.lineage.nodes[link.kin].target for link in links[:1]]
        node = self._stages.node(origin)
        return next(iter(targets), "") or node.original_aten or node.target

    def _finding(self, key: Hashable, origins: list[Origin], part: _Part) -> Finding:
        first = origins[0]
        lines = [[self._text(one) for one in origins if one.is_b == is_b] for is_b in (False, True)]
        where, old = (self._line(origins, is_b=is_b) for is_b in (True, False))
        if isinstance(key, Edit):
            return edit_finding(key, (where, old), (tuple(lines[0][:_MOST]), tuple(lines[1][:_MOST])))
        if lines[0] == lines[1]:
            lines = [[self._call(one) for one in origins if one.is_b == is_b] for is_b in (False, True)]
        ours, theirs = (_few(found) for found in lines)
        made = self._made_of(first)
        if first.stage == "dynamo":
            targets = [self._targets(origins, is_b=is_b) for is_b in (True, False)]
            traced = (
                f"{targets[0]}, was {targets[1]}" if targets[0] != targets[1] else f"{targets[0]} with other arguments"
            )
            message = self._given(first) or f"the same line was traced to {traced}"
            return Finding("dynamo", made, message, ("dynamo", key), where, old, ours, theirs)
        by = self._pass(first.stage, part)
        if by is not None:
            row, is_b = by
            side = "{b}" if is_b else "{a}"
            summary = (
                f"the {row.kind} {row.name} changed this in {side} only"
                if not row.error
                else f"{row.name} failed in {side}"
            )
            return Finding("pass", row.name, summary, ("pass", row.stage, row.name, is_b), where, old, ours, theirs)
        if first.stage == "aot" and "joint" in self._stages.compared:
            message = "the partitioner splits the graph differently: other values are saved or recomputed"
            return Finding("partition", made, message, ("partition",), where, old, ours, theirs)
        if first.stage in ("joint", "aot"):
            message = f"AOTAutograd traced {made} to other operators: a decomposition, or what autograd adds, differs"
            return Finding("aot", made, message, ("aot", made), where, old, ours, theirs)
        message = "the nodes differ after the passes, but no recorded pass changed them"
        return Finding("not known", made, message, ("not known", made), where, old, ours, theirs)

    def _pass(self, stage: str, part: _Part) -> tuple[Pass, bool] | None:
        """The pass that made the difference, and whether on the other side."""
        names = []
        for is_b, keys in ((False, part.a), (True, part.b)):
            half = self._stages.b if is_b else self._stages.a
            found = dict.fromkeys(keys)
            for one in ("dynamo", "joint", "aot"):
                if one in self._stages.compared:
                    found |= dict.fromkeys(key for own in keys for key in half.before(own, one))
            names.append(found)
        for one in ("dynamo", "joint", "aot"):
            if one in self._stages.compared:
                aligned = self._stages.at(one)
                names[0] |= dict.fromkeys(aligned.to_a[key] for key in list(names[1]) if key in aligned.to_a)
                names[1] |= dict.fromkeys(aligned.to_b[key] for key in list(names[0]) if key in aligned.to_b)
        return self._stages.pass_of(stage, *names)

    def _given(self, origin: Origin) -> str:
        """For a value that only has another type, size or layout: which."""
        node, other = self._stages.node(origin), self._stages.counterpart(origin)
        if origin.kind != "given" or other is None:
            return ""
        nodes = (node, other) if origin.is_b else (other, node)
        new, old = map(_results, nodes)
        if new == old:
            new, old = (", ".join(results_of(one)) for one in nodes)
        name = f"input {node.target}" if node.op == "placeholder" else node.target
        return f"{name} is {new}, was {old}"

    def _targets(self, origins: list[Origin], *, is_b: bool) -> str:
        """What the nodes of a side call, with the modules that they are in; `nothing else` without any."""
        nodes = [self._stages.node(one) for one in origins if one.is_b == is_b]
        words = [f"{one.target} of {one.module_type}" if one.module_type else one.target for one in nodes]
        return few(list(dict.fromkeys(words)), _MOST_TOLD) or "nothing else"

    def _text(self, origin: Origin) -> str:
        node = self._stages.node(origin)
        results = _results(node)
        name = node.target if node.op.startswith("call") else f"{node.op} {node.target}"
        return f"{name} → {results}" if results else name

    def _call(self, origin: Origin) -> str:
        node = self._stages.node(origin)
        return f"{self._text(origin)}, of {node.arguments}" if node.arguments else self._text(origin)

    def _line(self, origins: list[Origin], *, is_b: bool) -> Location | None:
        """The line of the first node of a side; else of its counterpart there."""
        for one in origins:
            node = self._stages.node(one) if one.is_b == is_b else self._stages.counterpart(one)
            where = None if node is None else node.where or self._from(one, node, is_b=is_b)
            if where is not None:
                return where
        return None

    def _from(self, origin: Origin, node: Node, *, is_b: bool) -> Location | None:
        half: Half = self._stages.b if is_b else self._stages.a
        path = origin.key[0]
        ref = half.ref(origin.stage, (path, node.name))
        return None if ref is None else half.lineage.line_of(ref)


def _place(where: Location | None) -> tuple[str, str] | None:
    own = None if where is None else own_line(where) or where
    return None if own is None else (own.function, own.code.strip())


def _few(lines: list[str]) -> tuple[str, ...]:
    return (*lines[:_MOST], *([f"… {len(lines) - _MOST} more"] if len(lines) > _MOST else []))


def _results(node: Node) -> str:
    return ", ".join(f"{one.dtype}[{', '.join(map(str, one.size))}]" for one in node.values)
