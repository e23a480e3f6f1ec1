"""Every field of every fact in every sink: nothing of a dump steers a terminal or a CI system, or breaks a form."""

import ast
import json
import re
from collections.abc import Callable, Iterator
from functools import partial
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

import msgspec
import pytest

from inspect_compile.diagrams.kinds.every import KINDS
from inspect_compile.dump import Dump, paths
from inspect_compile.export.formats import FORMATS
from inspect_compile.facts import FACTS
from inspect_compile.finish import ARTIFACTS, finish
from inspect_compile.tables import TABLES
from tests.hostile import dumps
from tests.hostile.views import Said, said
from tests.hostile.watch import STEERS

ROOT: Final = Path(__file__).parents[2]
LOGS: Final = "\n::error file=a,line=1::x\n  ::add-mask::y\n##[error]z ##vso[task.complete]w ##teamcity[x]\r\n"
MARKUP: Final = "</script><img src=x onerror=x>]]>\" onload='x' &amp;\ufffe\x0b"
TEXT: Final = f"{LOGS}{dumps.STEERING}{MARKUP}"

COMMANDS_IN_LOGS: Final = re.compile(r"(?m)^\s*::[A-Za-z]|##(?:\[|vso\[|teamcity\[)")
"""What GitHub Actions, Azure Pipelines and TeamCity carry out."""

GRAPH: Final = "g.0"
DEEPEST: Final = 3


def filled(kind: msgspec.inspect.Type, name: str, depth: int = 0) -> Any:
    """A value of a type, with TEXT in each of its texts; records within records only so deep."""
    match kind:
        case msgspec.inspect.UnionType(types=types):
            some = next(one for one in types if not isinstance(one, msgspec.inspect.NoneType))
            return None if depth > DEEPEST and len(types) > 1 else filled(some, name, depth)
        case msgspec.inspect.StrType():
            return f"{TEXT}{name}"
        case msgspec.inspect.BoolType():
            return True
        case msgspec.inspect.IntType() | msgspec.inspect.FloatType():
            return 1
        case msgspec.inspect.LiteralType(values=values):
            return values[0]
        case msgspec.inspect.ListType() | msgspec.inspect.VarTupleType() if depth > DEEPEST:
            return []
        case msgspec.inspect.ListType(item_type=item) | msgspec.inspect.VarTupleType(item_type=item):
            return [filled(item, name, depth)]
        case msgspec.inspect.TupleType(item_types=items):
            return [filled(item, name, depth) for item in items]
        case msgspec.inspect.DictType(key_type=key, value_type=value):
            return {filled(key, name, depth): filled(value, name, depth)}
        case msgspec.inspect.StructType(fields=fields):
            return {field.encode_name: filled(field.type, field.encode_name, depth + 1) for field in fields}
    return None


def every_field() -> dumps.Files:
    """A dump with one fact of each kind, each text of which is TEXT and the name of its field."""
    files: dumps.Files = {paths.RUN: dumps.recorded("draw/conditional")[paths.RUN]}
    for kind in FACTS:
        row = filled(msgspec.inspect.type_info(kind), "")
        row |= {"fact": kind.__struct_config__.tag, "graph": GRAPH}
        table = paths.table(kind.table, GRAPH if kind.per_graph else None)
        files[table] = files.get(table, b"") + dumps.encoded(row)
    return files


DUMPS: Final[dict[str, Callable[[], dumps.Files]]] = {
    "every field": every_field,
    **{name: partial(dumps.steering, name, everything=False, steer=TEXT) for name in dumps.RECORDED},
}


@pytest.fixture(
    scope="module",
    params=[
        pytest.param(name, marks=[pytest.mark.harmless] if name.startswith(("h200", "tui")) else []) for name in DUMPS
    ],
)
def root(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = dumps.write(tmp_path_factory.mktemp("sinks") / "dump", DUMPS[request.param]())
    (root / ".finished").touch()
    return root


@pytest.fixture(autouse=True)
def in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CI", "true")


def check_log(found: Said, words: object) -> None:
    """It may stand in a log."""
    for text in (found.out.decode(), found.err):
        for pattern in (STEERS, COMMANDS_IN_LOGS):
            wrong = pattern.search(text)
            assert wrong is None, (words, text[max(0, wrong.start() - 60) : wrong.end() + 40])


def words_of(root: Path) -> Iterator[tuple[str | Path, ...]]:
    """Commands that say something."""
    for table in TABLES:
        if table not in ("kernel", "node"):
            yield "show", root, table
            yield "show", root, table, "--all"
    for node in ("op0", "relu", "buf0"):
        yield "show", root, "node", node
    yield "draw", root, "--list"
    yield "draw", root, "--format", "dot", "-o", f"{root.parent}/drawn/"
    yield "why", root, "add"
    yield "name", root, "triton_"
    yield "diff", root, root
    yield "show", root, "kernel", "nothing"


def test_what_is_said_may_stand_in_a_log(root: Path) -> None:
    for words in words_of(root):
        check_log(said(*words), words)


def test_json_is_json_and_may_stand_in_a_log(root: Path) -> None:
    for table in TABLES:
        if table not in ("kernel", "node"):
            found = said("show", root, table, "--json")
            check_log(found, table)
            for line in found.out.decode().splitlines():
                json.loads(line)


def test_charts_are_xml(root: Path) -> None:
    for kind in KINDS:
        said("draw", root, kind, "--format", "svg", "-o", f"{root.parent}/charts/{kind}/")
    for path in (root.parent / "charts").rglob("*.svg"):
        check_markup(path.read_bytes())


def check_markup(data: bytes) -> None:
    for element in ElementTree.fromstring(data).iter():
        assert not element.tag.endswith(("script", "img"))
        assert not any(name.startswith("on") for name in element.attrib)


class Page(HTMLParser):
    """Notes what a browser would run."""

    def __init__(self) -> None:
        super().__init__()
        self.images: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.images += [tag for name, value in attrs if name in ("onerror", "onload") or value == "x"]


def test_a_page_runs_nothing_of_it(root: Path) -> None:
    for redacted in ((), ("--redact",)):
        output = root.parent / f"page{len(redacted)}.html"
        check_log(said("report", root, "-o", output, *redacted), "report")
        page = Page()
        page.feed(output.read_text())
        assert page.images == []


def test_exports_keep_their_forms(root: Path) -> None:
    for form in FORMATS:
        output = root.parent / "exports" / form / "out"
        check_log(said("export", root, "--format", form, "-o", output), form)
        for path in output.parent.glob("out*"):
            if form in ("perfetto", "model-explorer"):
                json.loads(path.read_bytes())


def test_derived_files_steer_no_terminal(root: Path) -> None:
    (root / ".finished").unlink()
    finish(Dump(root))
    for path in root.rglob("*.txt"):
        if path.name in ARTIFACTS:
            assert STEERS.search(path.read_text()) is None, path


def test_reports_of_a_check_keep_their_forms(root: Path, tmp_path: Path) -> None:
    other = dumps.write(tmp_path / "other", dumps.recorded("tui/mixed"))
    lock, junit, sarif = (tmp_path / name for name in ("a.lock", "a.xml", "a.sarif"))
    for first, second in ((other, root), (root, other), (root, root)):
        made = said("lock", first, "-o", lock)
        check_log(made, "lock")
        if made.status:
            continue
        for form in ("text", "json", "github"):
            found = said("check", second, "--lock", lock, "--format", form, "--junit", junit, "--sarif", sarif)
            annotations = [line for line in found.out.decode().splitlines() if line.startswith("::")]
            assert all(re.match(r"::(?:error|notice) ", line) for line in annotations)
            rest = "\n".join(line for line in found.out.decode().splitlines() if line not in annotations)
            check_log(Said(0, rest.encode(), found.err), form)
            assert form == "github" or not annotations
            if junit.exists():
                check_markup(junit.read_bytes())
                json.loads(sarif.read_bytes())
                assert STEERS.search(sarif.read_text()) is None


def test_nothing_is_said_past_the_streams() -> None:
    """No command writes to a stream itself: `streams.py` and `printing.py` know what may stand in it."""
    past = [
        f"{path.name}:{node.lineno}"
        for path in sorted((ROOT / "inspector" / "commands").rglob("*.py"))
        if path.name not in ("streams.py", "printing.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and re.fullmatch(r"print|sys\.(?:stdout|stderr)(?:\.buffer)?\.write(?:lines)?", ast.unparse(node.func))
    ]
    assert [place.partition(":")[0] for place in past] == ["check.py"], past  # annotations, which a CI system is given
