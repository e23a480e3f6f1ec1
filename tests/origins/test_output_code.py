"""The facts that are read from a generated module are those that were recorded while torch wrote it."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import torch

from inspect_compile.dump import Dump, paths
from inspect_compile.facts import Fact, Kernel, MemoryPlan, WrapperLine
from inspect_compile.origins.output_code import OutputCode, read_code
from tests.conftest import DumpOf

DATA = Path(__file__).resolve().parent.parent / "data" / "h200-torch-2.11"

_OF_LINE = (
    "graph", "what", "end", "buffer", "becomes", "kernel", "arguments", "delete_old", "is_reused", "is_planned",
    "device", "text", "torch_type",
)  # fmt: skip
_OF_KERNEL = (
    "graph", "name", "kind", "form", "device", "source", "path", "defined_at", "defined_to", "launches", "metadata",
)  # fmt: skip
_NOT_RECORDED = ("comment", "device")
"""Kinds of lines that a recorded run splits otherwise, or that older dumps name otherwise."""


def codes(dump: Dump) -> Iterator[tuple[str, OutputCode]]:
    for graph in dump.outermost():
        text = dump.text(graph.graph, f"{paths.OUTPUT_CODE}.py")
        assert text is not None
        yield graph.graph, read_code(graph.graph, text)


def fields(fact: Fact, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(fact, name) for name in names}


def lines(facts: list[WrapperLine]) -> list[dict[str, Any]]:
    """What is compared of the lines: of checks not the text, which torch 2.15 does not keep; 2.11 has none of those of
    inputs.
    """
    without = _NOT_RECORDED if torch.__version__ >= "2.12" else (*_NOT_RECORDED, "assert")
    found = [fields(row, _OF_LINE) for row in facts if row.line is not None and row.what not in without]
    for row in found:
        if row["what"] == "assert":
            del row["text"], row["torch_type"]
    return found


@pytest.mark.parametrize("sample", ["softmax_mlp", "training_step", "conditional", "attention_block"])
def test_each_line_of_the_wrapper_is_the_one_that_was_recorded(sample: str, dump_of: DumpOf) -> None:
    dump = Dump(dump_of(sample).dump)
    for graph, code in codes(dump):
        read = [fact for fact in code.facts if isinstance(fact, WrapperLine)]
        recorded = dump.rows(WrapperLine, graph)
        assert lines(read) == lines(recorded)
        size = {(row.graph, row.end): row.bytes for row in recorded if row.line is not None}
        known = [row for row in read if row.bytes is not None]
        assert known
        assert [row.bytes for row in known] == [size[row.graph, row.end] for row in known]


@pytest.mark.parametrize("sample", ["softmax_mlp", "training_step", "conditional", "attention_block"])
def test_kernels_plans_and_sources_are_those_that_were_recorded(sample: str, dump_of: DumpOf) -> None:
    dump = Dump(dump_of(sample).dump)
    for graph, code in codes(dump):
        read = [fields(fact, _OF_KERNEL) for fact in code.facts if isinstance(fact, Kernel)]
        assert read == [fields(kernel, _OF_KERNEL) for kernel in dump.rows(Kernel, graph)]
        plans = [(fact.graph, fact.inputs, fact.outputs) for fact in code.facts if isinstance(fact, MemoryPlan)]
        assert plans == [(plan.graph, plan.inputs, plan.outputs) for plan in dump.rows(MemoryPlan, graph)]
        assert code.sources
        for path, source in code.sources:
            assert source == (dump.folder(graph) / path).read_text(encoding="utf-8")


@pytest.mark.parametrize("recorded", ["softmax_mlp", "tuned", "user_triton_kernel"])
def test_a_triton_kernel_tells_its_form_its_device_and_its_fx_nodes(recorded: str) -> None:
    dump = Dump(DATA / recorded)
    told = (*_OF_KERNEL, "nodes")
    for graph, code in codes(dump):
        read = [fact for fact in code.facts if isinstance(fact, Kernel) and fact.kind != "extern"]
        kernels = [kernel for kernel in dump.rows(Kernel, graph) if kernel.kind != "extern"]
        assert [kernel.name for kernel in read] == [kernel.name for kernel in kernels]
        for one, other in zip(read, kernels, strict=True):
            named = told if one.kind != "user_triton" else _OF_KERNEL  # no comment says which nodes those are of
            assert fields(one, named) == {**fields(other, named), "form": one.form, "path": one.path}
            assert one.form
            assert one.numel in ((), other.numel)


def test_launches_and_library_calls_come_in_order_with_what_they_are_given(dump_of: DumpOf) -> None:
    [(_, code)] = codes(Dump(dump_of("softmax_mlp").dump))
    calls = [fact for fact in code.facts if isinstance(fact, WrapperLine) and fact.what in ("launch", "extern")]
    assert [call.kernel for call in calls] == [
        "extern_kernels.addmm", "cpp_fused_relu_0", "extern_kernels.addmm", "cpp_fused__softmax_1",
    ]  # fmt: skip
    assert calls[-1].arguments == ("buf2", "buf3", "buf5", "buf6")


def test_a_c_plus_plus_wrapper_keeps_its_lines() -> None:
    text = "cpp_wrapper_src = (\nr'''\n#include <x>\n'''\n)\n"
    code = read_code("g", text)
    assert code == OutputCode(cpp="\n\n#include <x>\n")
    assert code.cpp.split("\n").index("#include <x>") == text.split("\n").index("#include <x>")


_UNREADABLE = {
    "nothing": "",
    "torn": "def call(args):",
    "C++": "#include <torch/csrc/inductor/cpp_prefix.h>\nvoid f() {}\n",
    "a null byte": "\0",
    "a million brackets": "x = " + "[" * 1_000_000,
    "a million signs": "x = " + "-" * 1_000_000 + "1",
    "a long sum": "x = " + "1+" * 300_000 + "1",
    "a long name": "x = a" + ".b" * 300_000,
    "much code": "def call(args):\n" + "    x = 1\n" * 500_000,
    "code that looks like a string": "x = 1 # '''\n" * 500_000,
    "a long string": "x = '''" + "a" * (33 << 20) + "'''\n",
}


@pytest.mark.parametrize("what", _UNREADABLE)
def test_what_is_no_such_module_is_a_note(what: str) -> None:
    code = read_code("g", _UNREADABLE[what])
    assert not code.facts
    assert code.note


def test_what_it_reads_is_not_run(tmp_path: Path) -> None:
    made = tmp_path / "made"
    write = f"open({str(made)!r}, 'w').write('x')"
    text = f"{write}\ndef call(args):\n    arg0_1, = args\n    args.clear()\n    {write}\n    return (arg0_1, )\n"
    text += f"k = async_compile.triton('k', '''\n{write}\n''', device_str={write})\nclass Runner:\n    x = {write}\n"
    code = read_code("g", text)
    assert [fact.name for fact in code.facts if isinstance(fact, Kernel)] == ["k"]
    assert not made.exists()


def test_numbers_that_no_fact_can_hold_are_left_out() -> None:
    huge = "9" * 4000
    allocation = f"buf0 = empty_strided_cpu(({huge}, {huge}), ({huge}, 1), torch.float32)"
    text = f"def call(args):\n    {allocation}\n    return (buf0,)\n"
    code = read_code("g", text)
    [row] = [fact for fact in code.facts if isinstance(fact, WrapperLine)]
    assert (row.buffer, row.bytes) == ("buf0", None)
    msgspec.json.encode(row)
