"""Going to a name: what has it, then what has it as a part."""

from inspect_compile.analysis.lookup.answer import Found, Unknown
from inspect_compile.analysis.lookup.anything import find_anything
from tests.diagrams.pictures import recorded


def test_a_name_comes_before_those_that_contain_it() -> None:
    found = find_anything(recorded("tui/mixed"), "relu")
    assert isinstance(found, Found)
    exact = [thing for thing in found.all if thing.name == "relu"]
    parts = [thing for thing in found.all if thing.name != "relu"]
    assert exact
    assert found.all[: len(exact)] == tuple(exact)
    assert {thing.kind for thing in parts} >= {"kernel"}
    assert all("relu" in thing.name for thing in parts)
    assert len(set(found.all)) == len(found.all)


def test_what_nothing_has_is_unknown() -> None:
    assert isinstance(find_anything(recorded("tui/mixed"), "no_such_name"), Unknown)
