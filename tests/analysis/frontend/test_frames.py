"""Frames and causes of small dumps that the test writes down."""

from pathlib import Path

from inspect_compile.analysis.frontend.frames import causes, frames, plain_source, resumed
from inspect_compile.facts import FailedGuard, Frame, Guard, Location, Recompile, Skip
from inspect_compile.knowledge.frontend.guard_text import words
from tests.handmade import FILE, made


def frame(compile_id: str, function: str, caller: str, line: int = 1) -> Frame:
    return Frame(
        graph=compile_id,
        function=function,
        file=FILE,
        line=line,
        status="compiled",
        caller=Location(FILE, line, caller),
    )


def test_frames_stand_under_the_one_that_called_them(tmp_path: Path) -> None:
    dump = made(
        tmp_path,
        frame("0/0", "net", "main"),
        frame("1/0", "torch_dynamo_resume_in_net_at_7", "net"),
        frame("2/0", "Block.forward", "torch_dynamo_resume_in_net_at_7"),
        frame("10/0", "other", "main"),
        frame("3/0", "tail", "forward"),
        Skip(function="told", file=FILE, line=90, reason="no tensors", caller=Location(FILE, 3, "tail")),
    )
    assert [(run.depth, run.function) for run in frames(dump)] == [
        (0, "net"),
        (1, "torch_dynamo_resume_in_net_at_7"),
        (2, "Block.forward"),
        (3, "tail"),
        (4, "told"),
        (0, "other"),
    ]


def test_a_frame_that_calls_itself_is_its_own_child_once(tmp_path: Path) -> None:
    dump = made(tmp_path, frame("0/0", "f", "f"), frame("0/1", "f", "f"), frame("1/0", "f", "f", 2))
    assert [(run.depth, run.line, len(run.compiles)) for run in frames(dump)] == [(0, 1, 2), (1, 2, 1)]


def test_one_cause_of_several_compiles_is_told_once(tmp_path: Path) -> None:
    failed = [
        FailedGuard(compile_id=compile_id, condition="size", what="size of x", before=before, after="9", source="x")
        for compile_id, before in (("0/2", "8"), ("0/1", "7"), ("0/0", "8"))
    ]
    again = Recompile(graph="0/3", function="f", file=FILE, line=1, reasons=(), failed=tuple(failed))
    guard = Guard(graph="0/2", kind="TENSOR_MATCH", source="L['x']", where=Location(FILE, 12, "f"))
    found = causes(made(tmp_path, again, guard), again)
    assert [(cause.compile_ids, cause.failed.before) for cause in found] == [(("0/2", "0/0"), "8"), (("0/1",), "7")]
    assert [cause.where.line if cause.where else None for cause in found] == [12, None]


def test_names_are_those_of_the_program() -> None:
    assert plain_source("L['self']._modules['fc']._parameters['weight']") == "self.fc.weight"
    assert plain_source("G['__import_torch_dot_nn_dot_functional'].relu") == "torch.nn.functional.relu"
    assert plain_source("G['__builtins_dict___1']['print']") == "print"
    assert resumed("torch_dynamo_resume_in_forward_at_12") == ("forward", 12)
    assert resumed("resume_in_forward") is None


def test_guards_in_words() -> None:
    def told(kind: str, *code: str, value: str = "") -> str:
        return words(Guard(kind=kind, source="L['n']", code=code, value=value))

    assert told("EQUALS_MATCH", "L['n'] == 2") == "== 2"
    assert told("TYPE_MATCH", "___check_type_id(L['n'], 94251534656752), type=<class 'int'>") == "of type int"
    length = ("___check_type_id(L['n'], 94251534656752), type=<class 'tuple'>", "len(L['n']) == 3")
    assert told("SEQUENCE_LENGTH", *length) == "of type tuple and of length 3"
    assert told("TENSOR_MATCH", "hasattr(L['n'], '_dynamo_static_indices') == False", value="float32[8]").startswith(
        "float32[8]: its dtype"
    )
    assert told("BUILTIN_MATCH", "___check_obj_id(L['n'], 94251534656752), type=<class 'x'>") == "the same builtin"
    assert told("SHAPE_ENV", "6 <= L['x'].size()[0]") == "6 <= L['x'].size()[0]"
    assert told("SHAPE_ENV") == "no assumption about symbolic sizes"
