"""Pages that tests look at, and what an HTML parser sees in them."""

import shutil
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final

from inspect_compile.commands import main
from inspect_compile.dump import Dump
from inspect_compile.facts import Artifact, Frame, KernelBody, Lowering, Recompile, Remark, Run, StatementNodes
from inspect_compile.report.packing import unpacked
from tests.handmade import GRAPH, at, ended, graph, kernel, line, lowered, made, node, operation

MIXED: Final = Path(__file__).parents[1] / "data" / "tui" / "mixed"

HOSTILE: Final = (
    "<script>window.hacked=1</script>",
    '"onload="window.hacked=1',
    "' onerror='window.hacked=1' x='",
    "</script><script>window.hacked=1</script>",
    "</style><img src=x onerror=window.hacked=1>",
    "]]><svg onload=window.hacked=1>",
    "--><script>window.hacked=1</script><!--",
    "</title></pre></table></svg><iframe srcdoc='<script>parent.hacked=1</script>'>",
    "javascript:window.hacked=1//",
    "&lt;script&gt;&#x3c;script&#x3e;",
)
VOID: Final = frozenset({"meta", "br", "img", "input", "link"})
OPTIONAL: Final = frozenset({"td", "tr", "li"})
"""Elements whose end tag is left out."""


@dataclass
class Seen(HTMLParser):
    """Every element with its attributes, in order, and whether they are properly nested."""

    elements: list[tuple[str, dict[str, str | None]]] = field(default_factory=list)
    texts: list[tuple[str, str]] = field(default_factory=list)
    """The element that a text is in, and the text."""
    faults: list[str] = field(default_factory=list)
    open: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__(convert_charrefs=True)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        while self.open and self.open[-1] in OPTIONAL and tag in OPTIONAL and (self.open[-1], tag) != ("tr", "td"):
            self.open.pop()
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open[-1] in OPTIONAL and tag not in OPTIONAL:
            self.open.pop()
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> at {self.getpos()}")

    def handle_data(self, data: str) -> None:
        self.texts.append((self.open[-1] if self.open else "", data))

    def text(self) -> str:
        """Everything that a person reads, and titles."""
        return " ".join(data for inside, data in self.texts if inside not in ("script", "style"))


def seen(page: str) -> Seen:
    """What is in a page, packed or not."""
    found = Seen()
    found.feed(unpacked(page).replace("<wbr>", ""))  # no part of a text: where a long name may be broken
    found.close()
    assert not found.open, found.open
    return found


def written(folder: Path, *words: str | Path) -> str:
    """The page that `report WORDS` writes."""
    file = folder / "page.html"
    assert main(["report", *map(str, words), "-o", str(file)]) == 0
    return file.read_text(encoding="utf-8")


def recorded(folder: Path, source: Path = MIXED) -> Path:
    """A copy of a recorded dump."""
    return Path(shutil.copytree(source, folder / source.name))


def failed(root: Path) -> Dump:
    """A dump of a program that ended with an exception: one compile failed, one was given up, one is a recompile."""
    why = "Unsupported: print Explanation: Dynamo does not trace print Hint: remove it"
    function: dict[str, Any] = {"function": "step", "file": "/train.py", "line": 3, "caller": at(9, "step(x)")}
    return made(
        root,
        Frame(graph="0/0", status="compiled", graphs=1, **function),
        Frame(graph="0/1", status="failed", reason=why, **function),
        Frame(graph="1/0", function="other", file="/train.py", line=20, status="skipped", reason=why),
        Recompile(graph="0/1", function="step", file="/train.py", line=3, reasons=("0/0: x.size(0) == 4",)),
        Artifact(graph="0/1", name="dynamo_error", text="Traceback: </pre><script>window.hacked=1</script>"),
        graph(compile_id="0/0"),
        node("mul", "aten.mul.Tensor", where=at(4, "y = x * 2")),
        operation("op0", reads={"x": 16}, writes={"buf0": 16}, nodes=("mul",)),
        kernel("cpp_fused_mul_0", "op0", nodes=("mul",), launches=(7,)),
        line(7, "launch", kernel="cpp_fused_mul_0"),
        ended(),
        run=Run(status="raised", argv=("train.py",), exception="RuntimeError: no fake impl was registered"),
    )


def hostile(root: Path) -> Dump:
    """A dump in which every name, line and text is an attempt to run something."""
    bad = HOSTILE
    nodes = [node(bad[0], "aten.mul.Tensor", where=at(3, bad[3]), arguments=bad[5], module=bad[2])]
    nodes += [node(name, bad[1], where=at(4 + place, name)) for place, name in enumerate(bad[1:])]
    steps: list[Lowering] = [lowered(one.name, one.target) for one in nodes]
    source = "kernels/k/source.cpp"
    kernels = [
        kernel(name, f"op{place}", kind="extern", nodes=(name,), launches=(100 + place,))
        for place, name in enumerate(bad)
    ]
    kernels[0] = kernel(bad[0], "op0", nodes=(bad[0],), source=source, launches=(100,), path=bad[5])
    body = KernelBody(
        graph=GRAPH,
        kernel=bad[0],
        operations=("op0",),
        nodes=(bad[0],),
        operators=(bad[4],),
        statements=(StatementNodes(1, 0, (0,)),),
    )
    found = made(
        root,
        Frame(graph="0/0", function=bad[0], file=bad[1], line=1, status="compiled", graphs=1),
        graph(name=bad[3]),
        *nodes,
        *steps,
        *(
            operation(f"op{place}", reads={bad[1]: 4}, writes={f"buf{place}{name}": 4}, nodes=(name,))
            for place, name in enumerate(bad)
        ),
        *kernels,
        body,
        *(line(place, "launch", kernel=name, arguments=(bad[2],)) for place, name in enumerate(bad)),
        *(Remark(graph=GRAPH, kind="missed", code=name, message=name, place=at(3, name)) for name in bad),
        ended(exception=bad[3]),
        run=Run(status="raised", argv=(bad[0], *bad), cwd=bad[1], exception=bad[4], versions={"torch": bad[0]}),
    )
    folder = found.folder(GRAPH)
    (folder / "kernels" / "k").mkdir(parents=True)
    (folder / source).write_text("\n".join(bad))
    (folder / "output_code.py").write_text("\n".join(bad))
    return found
