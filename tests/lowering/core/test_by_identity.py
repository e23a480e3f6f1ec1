"""What is known of an object ends with it, and objects that are equal stay apart."""

import gc

from inspect_compile.lowering.core.by_identity import ByIdentity


class Equal:
    """Equal to all others of its kind."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Equal)

    def __hash__(self) -> int:
        return 1


def test_equal_objects_are_apart() -> None:
    known, one, other = ByIdentity[str](), Equal(), Equal()
    known[one] = "one"
    assert known.get(other) is None
    known[other] = "other"
    assert (known.get(one), known.get(other), known.get(None)) == ("one", "other", None)


def test_nothing_is_known_of_what_is_gone() -> None:
    known = ByIdentity[str]()
    for number in range(100):  # many of them stand where one stood before
        one = Equal()
        assert known.get(one) is None
        known[one] = str(number)
        known[one] = f"{number} again"
        assert known.get(one) == f"{number} again"
        assert len(known) == 1
        del one
        gc.collect()
        assert len(known) == 0
