"""`share --no-source`: no text of the program's is left, in any byte of the copy, and the copy answers as before."""

import hashlib
import json
import re
import subprocess
import zipfile
from pathlib import Path

import pytest

from inspect_compile.commands import main
from inspect_compile.dump import Dump
from inspect_compile.facts import FACTS, Kernel, Node
from inspect_compile.report.packing import unpacked
from inspect_compile.share.encodings import hidden
from inspect_compile.share.vocabulary import is_common, key
from inspect_compile.tables import TABLES
from tests.conftest import run_once
from tests.running import inspected

SCRIPT = '''
"""$docstring of the file."""
import os
import warnings
from collections import namedtuple
from dataclasses import dataclass

import torch
import torch.nn as $nn
from $package import $module as $alias
from $package.$module import $imported

$GLOBAL = {"$key": 3, "$mode": "$value"}
$Pair = namedtuple("$Pair", "$left $right")
os.environ["$VARIABLE"] = "$setting"

@dataclass
class $Options:
    $scale: float = 1.5
    $name: str = "$text"

@torch.library.custom_op("$namespace::$operator", mutates_args=())
def $function_of_operator($operand: torch.Tensor, $flag: str) -> torch.Tensor:
    """$docstring_of_operator"""
    return $operand.sin()  # $comment

@$function_of_operator.register_fake
def _($operand, $flag):
    return torch.empty_like($operand)

def $setup(ctx, inputs, output):
    ctx.$saved = inputs[0].shape
    ctx.save_for_backward(inputs[0])

def $gradient($context, $incoming):
    ($kept,) = $context.saved_tensors
    return $incoming * $kept.cos(), None

$function_of_operator.register_autograd($gradient, setup_context=$setup)

class $Swish(torch.autograd.Function):
    @staticmethod
    def forward($context, $given):
        $context.save_for_backward($given)
        return $given * $given.sigmoid()

    @staticmethod
    def backward($context, $incoming):
        ($given,) = $context.saved_tensors
        return $incoming * $given.sigmoid()

class $Block($nn.Module):
    """$docstring_of_class"""

    def __init__(self, $width=8):
        super().__init__()
        self.$layer_of_mine = $nn.Linear($width, $width)
        self.register_buffer("$buffer", torch.ones($width))
        self.$parameter = $nn.Parameter(torch.ones($width))
        self.$attribute = "$string"
        self.$options = $Options()

    @property
    def $half(self):
        return 0.5

    def forward(self, $entering, *, $keyword=None):
        $local = self.$layer_of_mine($entering) + self.$buffer * self.$parameter  # $comment_of_line
        if self.$attribute == "$other" or $GLOBAL["$mode"] == "$never":
            return $local
        return $helper($local, $factor=2.5) * self.$half * self.$options.$scale

def $helper($passed, $factor):
    $outcome = torch.ops.$namespace.$operator($passed, "$constant") * $factor
    print("$printed", $outcome.shape)
    return $alias.$activation($outcome).softmax(-1)

class $Net($nn.Module):
    def __init__(self):
        super().__init__()
        self.$blocks = $nn.ModuleList([$Block(), $Block()])
        self.$dictionary = $nn.ModuleDict({"$member": $Block()})

    def forward(self, $x_of_net, $mapping):
        for $one in self.$blocks:
            $x_of_net = $one($x_of_net, $keyword=1)
        return self.$dictionary["$member"]($x_of_net) + $mapping["$entry"]

$compiled = torch.compile($Net())
for $size in (4, 6):
    $result = $compiled(torch.ones($size, 8), {"$entry": torch.ones(8)})
    $result.square().sum().backward()

def $backend($graph_module, $examples):
    return $graph_module.forward

def $hook($owner, $arguments, $returned):
    return $returned + 1

@torch.compiler.disable
def $disabled($anything):
    return $anything

@torch.compile
def $higher($predicate, $operands, $pair):
    """$docstring_of_function"""
    if os.environ.get("$VARIABLE") == "$impossible":
        return $operands
    def $when_true($operands):
        return $operands.sin() + $pair.$left
    def $when_false($operands):
        return $operands.cos() - $pair.$right
    with torch.profiler.record_function("$region"):
        $chosen = torch.cond($predicate.sum() > 0, $when_true, $when_false, ($operands,))
    return $Swish.apply($disabled($chosen))

$higher(torch.ones(3), torch.ones(4, requires_grad=True), $Pair(torch.ones(4), torch.ones(4))).sum().backward()

@torch.compile(dynamic=True)
def $positions($first, $count: int, *$rest, **$named):
    torch._dynamo.graph_break("$message_of_break")
    assert $first.shape[0] > 2, "$assertion"
    warnings.warn(f"$warning {$count}")
    $größe = $first * $count
    return $größe + $rest[0] + $named["$kwarg"]

for $size in (3, 5):
    $positions(torch.ones($size), $size, torch.ones($size), $kwarg=torch.ones($size))
$hooked = $nn.Linear(4, 4)
$hooked.register_forward_hook($hook)
torch.compile($hooked)(torch.ones(2, 4))
torch.compile($imported, backend=$backend)(torch.ones(3))

@torch.compile(fullgraph=True)
def $failing($argument):
    raise ValueError(f"$failure {$argument.shape}")

try:
    $failing(torch.ones(3))
except Exception:
    pass
raise RuntimeError("$final")
'''

MODULE = '''
"""$docstring_of_module"""
import torch

def $activation($activated):
    $scaled = $activated * 3  # $comment_of_module
    return $scaled.relu()

def $imported($imported_argument):
    return $imported_argument.tanh() + 1
'''

_NAME = re.compile(r"\$([A-Za-zöß_]+)")


def word(name: str) -> str:
    """A word that nothing else has, of the same kind: a class for a class."""
    digest = hashlib.sha256(name.encode()).digest()
    made = "".join("bdfgklmnprstvz"[digest[at] % 14] + "aeiou"[digest[at + 1] % 5] for at in range(0, 16, 2))
    made = made[:8] + "_" + made[8:] if "_of_" in name else made + "ö" * (not name.isascii())
    return made.upper() if name.isupper() else made.title().replace("_", "") if name.istitle() else made


def named(text: str) -> str:
    return _NAME.sub(lambda found: word(found[1]), text)


WORDS = sorted({part for name in _NAME.findall(SCRIPT + MODULE) for part in word(name).strip("ö").split("_")} - {""})
WORDS += [word(name) for name in ("folder", "script", "flag of command", "value of flag")]


@pytest.fixture(scope="module")
def recorded(shared_folder: Path) -> Path:
    """A dump of a program whose every word is its own."""
    place = shared_folder / "no_source"
    folder = place / word("folder")

    def record(_: Path) -> subprocess.CompletedProcess[str]:
        (folder / word("package")).mkdir(parents=True)
        (folder / word("package") / f"{word('module')}.py").write_text(named(MODULE))
        (folder / f"{word('script')}.py").write_text(named(SCRIPT))
        flag = f"--{word('flag of command')}={word('value of flag')}"
        result = inspected([f"{word('script')}.py", flag], folder)
        assert f"RuntimeError: {word('final')}" in result.stderr, result.stderr
        return result

    run_once(place, record)
    return folder / "dump"


@pytest.fixture
def shared(recorded: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert main(["share", str(recorded), "-o", str(tmp_path / "a.zip"), "--no-source"]) == 0
    assert "names of the program" in capsys.readouterr().out
    with zipfile.ZipFile(tmp_path / "a.zip") as archive:
        archive.extractall(tmp_path / "out")
    return tmp_path / "out" / "a"


def left(text: str) -> set[str]:
    lower = text.lower()
    return {one for one in WORDS if one.lower() in lower}


def test_no_word_is_one_of_torchs() -> None:
    assert len(WORDS) > 100
    assert [one for one in WORDS if is_common(key(one))] == []


def test_no_word_is_left(recorded: Path, shared: Path) -> None:
    before = "\n".join(path.read_text("utf-8", "replace") for path in recorded.rglob("*") if path.is_file())
    assert len(left(before)) > 80  # most come into a dump

    for path in shared.rglob("*"):
        assert left(str(path.relative_to(shared))) == set(), path
        if path.is_file():
            text = path.read_bytes().decode("utf-8", "replace")
            assert {one: path.name for piece in (text, *hidden(text)) for one in left(piece)} == {}, path


def test_it_answers_as_before(recorded: Path, shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def printed(*words: str | Path) -> tuple[int, str]:
        return main(list(map(str, words))), capsys.readouterr().out

    old, new = Dump(recorded), Dump(shared)
    assert [row.graph for row in new.graphs()] == [row.graph for row in old.graphs()]
    for kind in FACTS:
        assert sum(1 for _ in new.rows(kind)) == sum(1 for _ in old.rows(kind)), kind
    renamed = {(before.name, after.name) for before, after in zip(old.rows(Kernel), new.rows(Kernel), strict=True)} | {
        (before.name, after.name) for before, after in zip(old.rows(Node), new.rows(Node), strict=True)
    }
    assert len(renamed) == len({before for before, _ in renamed}) == len({after for _, after in renamed})
    places = [row.where for row in new.rows(Node) if row.where is not None]
    for table in TABLES:
        status, text = printed("show", shared, table)
        assert (status, left(text)) == (0, set()), table
        rows = [printed("show", folder, table, "--json")[1].count("\n") for folder in (shared, recorded)]
        # guards that differ in a text alone, which is left out, are one row
        assert rows[0] == rows[1] or (table == "guards" and 0 < rows[0] < rows[1]), table
    for kernel in [row.name for row in new.rows(Kernel)][:3]:
        assert printed("why", shared, kernel)[0] == 0
    where = f"{places[0].file.rpartition('/')[2]}:{places[0].line}"
    assert printed("why", shared, where)[0] == printed("why", recorded, f"{word('script')}.py:{places[0].line}")[0] == 0
    made = tmp_path / "made"
    made.mkdir()
    assert printed("draw", shared, "--graph", "all", "-o", made)[0] == 0
    assert printed("report", shared, "-o", made / "page.html")[0] == 0
    assert len([*made.iterdir()]) > 1
    assert [path.name for path in made.iterdir() if left(unpacked(path.read_text()))] == []


def test_the_same_name_is_the_same_everywhere(recorded: Path, shared: Path) -> None:
    """A layer is one name in its node's module, its guards and its placeholder."""
    for folder in (recorded, shared):
        nodes = [json.loads(line) for line in (folder / "dynamo_nodes.jsonl").read_text().splitlines()]
        modules = {node["module"] for node in nodes if node.get("module")}
        guards = (folder / "guards.jsonl").read_text()
        names = " ".join(node["name"] for node in nodes)
        assert modules
        for module in modules:
            last = module.rpartition(".")[2]
            assert last in guards
            assert last in names
