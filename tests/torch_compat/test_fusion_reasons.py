"""The registry of fusion reasons, held against every place in the installed torch that gives one."""

import ast
from pathlib import Path

import pytest
import torch
import torch._inductor.config

from inspect_compile.knowledge.fusion.reasons import REASONS, UNKNOWN, by_code, code_of, reason_of, words_of
from inspect_compile.knowledge.fusion.reasons.reason import Reason
from tests.private_names import version
from tests.refusal_sites import UNREADABLE, sites, sites_of

INDUCTOR = Path(torch.__file__).parent / "_inductor"
FOUND = sites(INDUCTOR)
OF_TORCH = [reason for reason in REASONS if reason.versions]


def is_here(reason: Reason) -> bool:
    first, _, last = reason.versions.partition("-")
    return version(first) <= version(torch.__version__) <= version(last or first)


def test_every_place_that_gives_a_reason_has_an_entry() -> None:
    unknown = [site for site in FOUND if reason_of(site.template) is None]
    assert unknown == [], "new reasons: add them to knowledge/fusion_reasons"
    assert len(FOUND) > 50


def test_every_entry_of_this_torch_is_given_somewhere() -> None:
    given = {site.template for site in FOUND}
    assert [reason.code for reason in OF_TORCH if bool(given & set(reason.templates)) != is_here(reason)] == []


@pytest.mark.parametrize("reason", [reason for reason in REASONS if reason.knob], ids=lambda reason: reason.code)
def test_a_knob_is_one_of_this_torch(reason: Reason) -> None:
    if reason.versions and not is_here(reason):
        pytest.skip(f"torch {torch.__version__} does not give this reason")
    found: object = torch._inductor.config
    for part in reason.knob.split("."):
        assert hasattr(found, part), reason.knob
        found = getattr(found, part)


def test_codes_and_texts_stand_once() -> None:
    codes = [reason.code for reason in REASONS]
    templates = [template for reason in REASONS for template in reason.templates]
    assert sorted(set(codes)) == sorted(codes)
    assert sorted(set(templates)) == sorted(templates)


@pytest.mark.parametrize("reason", REASONS, ids=lambda reason: reason.code)
def test_an_entry_tells_a_person_what_it_means(reason: Reason) -> None:
    assert 15 < len(reason.meaning) < 250
    assert not reason.meaning.endswith(".")
    assert by_code(reason.code) is reason
    assert all(reason_of(template) is reason for template in reason.templates)


def test_an_f_string_is_known_when_it_is_filled() -> None:
    size = "buf2's size: [8, 16] differs from buf0's size: [8, 4]"
    assert code_of(size) == "cutlass-sizes"
    assert code_of("ComputedBuffer(name='buf2',\n  data=Reduction()) is not a Pointwise op") == "cutlass-not-pointwise"
    assert code_of("op3 is a reduction which is not yet supported by EVT") == "cutlass-reduction"


def test_an_unknown_reason_keeps_a_slug_and_is_told_to_be_unknown() -> None:
    words = "The moon is full: wait, and try again"
    assert reason_of(words) is None
    assert code_of(words) == "the-moon-is-full-wait-and-try-again"
    assert by_code(code_of(words)) is None
    assert words_of(code_of(words)) == ""
    assert UNKNOWN


def test_a_dump_from_before_an_entry_was_written_has_its_slug() -> None:
    before = by_code("grouped-node-must-not-be-fused-with-other-nodes")
    assert before is not None
    assert before.code == "grouped"


SOURCE = """
from torch._inductor import scheduler
from torch._inductor.scheduler import fusion_log, WhyNoFuse
from torch._inductor.codegen.cutlass.scheduling import WhyNoFuseNames

class Scheduler:
    def can_fuse(self, a, b):
        why = WhyNoFuse(a, b)
        if a is b:
            why("the same")
        elif a > b:
            why("too large (%s, %s)"
                " by far", a, b)
        def inner():
            why("an inner one")
        scheduler.WhyNoFuse(a, b)("at once")
        reason: WhyNoFuse = WhyNoFuseNames(a, b)
        reason(f"{a.name} has a hole, {b!r:>10} too")
        reason("old style %s" % a)
        reason(str(a))
        fusion_log.debug("found %d possible fusions", 3)
        fusion_log.debug("refused %s", a)

    def helper(self, a, why: "WhyNoFuse"):
        why("by a parameter")

def other(why):
    why("of something else")
"""


def test_the_scanner_finds_every_way_to_say_it() -> None:
    assert sorted(site.template for site in sites_of(SOURCE, "scheduler.py")) == sorted(
        [
            "the same",
            "too large (%s, %s) by far",
            "an inner one",
            "at once",
            "{} has a hole, {} too",
            "old style %s",
            UNREADABLE,
            "refused %s",
            "by a parameter",
        ]
    )


def test_the_scanner_sees_what_is_added_to_torch() -> None:
    path = INDUCTOR / "choices.py"
    before = path.read_text(encoding="utf-8")
    words = "Fusion will increase peak memory"
    after = before.replace(f'"{words}"', '"the moon is full"')
    added = {site.template for site in sites_of(after, "choices.py")} - {
        site.template for site in sites_of(before, "choices.py")
    }
    assert added == {"the moon is full"}


def test_the_scanner_reaches_every_mention() -> None:
    """Each file that makes a WhyNoFuse has a site: no third way to say it is overlooked."""
    for path in INDUCTOR.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if "WhyNoFuse(" in text:
            makes = [
                node
                for node in ast.walk(ast.parse(text))
                if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] == "WhyNoFuse"
            ]
            assert not makes or any(site.file == str(path.relative_to(INDUCTOR)) for site in FOUND), path.name
