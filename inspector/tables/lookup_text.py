"""What became of looking up a person's words, in one line: what was asked, what is there, what to do next."""

from typing import Final, NamedTuple, TypeVar

from inspect_compile.analysis.lookup.answer import Ambiguous, Answer, Found, Kind, Unknown
from inspect_compile.errors import CommandError
from inspect_compile.graph import few

T = TypeVar("T")

_MOST: Final = 8
"""Maximum number of names listed."""
_LONGEST: Final = 200
"""Maximum characters of a name."""


class _Words(NamedTuple):
    clause: str
    """What is not so of the words; `{among}` is the graph or kernel in which it was looked for."""
    option: str = ""
    """The option that the words were given to."""
    label: str = "there are: "
    """What comes before what there is instead."""
    more: str = ""
    """What to do next; `{root}` is the dump."""
    none: str = ""
    """What is said where there is nothing instead."""


WORDS: Final[dict[Kind, _Words]] = {
    "compile": _Words("{why}"),
    "graph": _Words("no such graph", "--graph"),
    "rank": _Words("no such rank in {root}", "--rank", none="the run has one process; omit --rank"),
    "target": _Words(
        "nothing in {root} was compiled for it",
        "--target",
        none="it was compiled for the device of the run; omit --target",
    ),
    "replay": _Words("no such replay in {root}", "--replay", none="inspect-compile replay DUMP --graph G makes one"),
    "node": _Words("no node matches{in_graph}", more="list all: show {root} nodes"),
    "operation": _Words(
        "no operation matches{in_graph}",
        more="list all: show {root} schedule",
        none="a node, buffer, operation, kernel or file.py:LINE names one",
    ),
    "graph of a pair": _Words("only operations of one graph can be fused", label=""),
    "two operations": _Words("", label="both are computed by ", more="name two operations: show {root} schedule"),
    "kernel": _Words(
        "no kernel of this name{in_graph}",
        more="list all: show {root} kernels",
        none="the generated code defines none",
    ),
    "line of output_code.py": _Words("this line neither defines nor calls a kernel in {root}"),
    "configuration": _Words("no such configuration of {among}", "--config"),
    "source": _Words("its source is not in the dump"),
    "form of a kernel's line": _Words(
        "neither a line of the kernel's source, `25`, nor one of the program, `model.py:12`", "--line"
    ),
    "line of a kernel": _Words("no such line in the source of {among}", "--line", label="it has the lines "),
    "statement of a line": _Words("no statement of {among} belongs to it", "--line", none="none is known"),
    "statement of a node": _Words("no statement of {among} belongs to it", "--node", none="none is known"),
    "statement of both": _Words("no statement of {among} belongs to both"),
    "mapped statement": _Words("the nodes of the statements of {among} were not recorded"),
    "reason": _Words("no pair was refused for this reason", "--reason", none="no pair was refused at all"),
    "round": _Words("no pair was considered in this round", "--round", none="there is none"),
    "form of a program's line": _Words("neither a number nor file.py:NUMBER", "--line"),
    "operation of a line": _Words(
        "no operation comes from this line", "--line", none="no operation is known to come from a line"
    ),
    "form of a moment": _Words("neither a line of output_code.py nor `peak`", "--at"),
    "moment": _Words("no line of the wrapper", "--at", label="", more="or: peak"),
    "file of a profile": _Words("no such file"),
    "format of a profile": _Words(
        "no profile that can be read ({why}); there are torch.profiler's .json and .json.gz, Nsight Systems' .sqlite "
        "and .csv, Nsight Compute's .csv"
    ),
    "content of a profile": _Words("no kernel and no operator is in it ({why})"),
    "thing": _Words(
        "no kernel, node, operation, buffer, graph or line has this name, or a part of it",
        label="the kernels are ",
        none="the generated code defines no kernel",
    ),
    "kernel of a profile": _Words("none of its kernels is of {root}; `inspect-compile attribute` says why"),
}
"""How it is said that something of a kind is not there."""


def resolved(answer: Answer[T]) -> tuple[T, ...]:
    """What is meant; CommandError says what there is where nothing is, or one of several has to be chosen."""
    if isinstance(answer, Found):
        return answer.all
    raise CommandError(unresolved_text(answer))


def only(answer: Answer[T]) -> T:
    """The same where one thing alone can be meant."""
    (one,) = resolved(answer)
    return one


def unresolved_text(answer: Ambiguous | Unknown) -> str:
    """`--graph x: no such graph; there are: model__0_inference_0.0`."""
    words = WORDS[answer.kind]
    said = f"{words.option} {answer.asked}".lstrip()
    if isinstance(answer, Ambiguous):
        return f"{said}: several match; choose one: {_few(answer.choices)}"
    if answer.kind == "compile":
        return f"{answer.root}: {answer.why}"
    in_graph = f" in {answer.among}" if answer.among else ""
    clause = words.clause.format(among=answer.among, in_graph=in_graph, root=answer.root, why=answer.why)
    if answer.why and answer.why not in clause:
        clause = answer.why
    there = (
        f"near: {_few(answer.near)}" if answer.near else f"{words.label}{_few(answer.there)}" if answer.there else ""
    )
    parts = [clause, there or ("" if answer.why else words.none), words.more.format(root=answer.root) if there else ""]
    return f"{said}: {'; '.join(part for part in parts if part)}"


def _few(names: tuple[str, ...]) -> str:
    return few([name[:_LONGEST] for name in names], _MOST)
