"""Which earlier key a lookup is compared with, and what differs, on recorded facts."""

from pathlib import Path

from inspect_compile.analysis.caches.keys import KeyDifference
from inspect_compile.analysis.caches.lookups import lookup_rows
from inspect_compile.analysis.caches.words import difference_text, differences_text
from inspect_compile.facts import CacheLookup, Frame, KernelLookup, KeyMember, KeyPart
from inspect_compile.graph import Graphs
from tests.handmade import made

FILE = "/home/user/net.py"


def lookup(compile_id: str, **parts: str) -> CacheLookup:
    return CacheLookup(graph=compile_id, cache="fx_graph", outcome="miss", components=parts)


def frame(compile_id: str, function: str) -> Frame:
    return Frame(graph=compile_id, function=function, file=FILE, line=3, status="compiled")


def part(name: str, checksum: str, **members: str) -> KeyPart:
    found = {member: KeyMember(f"sum of {value}", value) for member, value in members.items()}
    return KeyPart(name=name, checksum=checksum, members=found)


def test_the_same_graph_is_nearer_than_one_with_fewer_differences(tmp_path: Path) -> None:
    dump = made(
        tmp_path,
        *(frame("0/0", "f"), frame("0/1", "f"), frame("1/0", "g"), frame("0/2", "f")),
        lookup("0/0", gm="a", config="x", version="1", inputs="i"),
        lookup("0/1", gm="b", config="y", version="2", inputs="j"),
        lookup("1/0", gm="c", config="y", version="2", inputs="j"),
        lookup("0/2", gm="a", config="y", version="2", inputs="j"),
    )

    rows = lookup_rows(Graphs(dump))

    assert [(row.nearest, [one.part for one in row.differing]) for row in rows] == [
        (None, []),
        ("0/0", ["gm", "config", "version", "inputs"]),
        (None, []),  # neither its graph nor another one of its function was looked up before
        ("0/0", ["config", "version", "inputs"]),
    ]
    assert [(row.function, row.line) for row in rows[2:3]] == [("g", 3)]


def test_of_two_keys_that_differ_in_one_part_the_one_with_fewer_members(tmp_path: Path) -> None:
    dump = made(
        tmp_path,
        *(part("config", "1", a="0", b="0"), part("config", "2", a="1", b="1"), part("config", "3", a="0", b="1")),
        *(lookup("0/0", gm="a", config="1"), lookup("0/1", gm="a", config="2"), lookup("0/2", gm="a", config="3")),
        lookup("0/3", gm="a", config="1"),
    )

    rows = lookup_rows(Graphs(dump))

    assert rows[1].differing == (KeyDifference("config", "a", "0", "1"), KeyDifference("config", "b", "0", "1"))
    assert (rows[2].nearest, rows[2].differing) == ("0/1", (KeyDifference("config", "a", "1", "0"),))
    assert (rows[3].nearest, rows[3].differing) == ("0/0", ())


def test_a_backward_is_not_compared_with_a_forward(tmp_path: Path) -> None:
    dump = made(
        tmp_path,
        *(part("fx_kwargs", "f", is_backward="False"), part("fx_kwargs", "b", is_backward="True")),
        *(lookup("0/0", gm="a", fx_kwargs="f"), lookup("0/0", gm="b", fx_kwargs="b")),
        *(lookup("0/1", gm="c", fx_kwargs="f"), lookup("0/1", gm="d", fx_kwargs="b")),
    )

    assert [[one.part for one in row.differing] for row in lookup_rows(Graphs(dump))] == [[], [], ["gm"], ["gm"]]


def test_an_earlier_dump(tmp_path: Path) -> None:
    earlier = made(
        tmp_path / "monday", frame("0/0", "f"), lookup("0/0", gm="a", config="1"), part("config", "1", a="x")
    )
    dump = made(tmp_path / "tuesday", frame("0/0", "f"), lookup("0/0", gm="a", config="2"), part("config", "2", a="y"))

    (row,) = lookup_rows(Graphs(dump), earlier=earlier)

    assert (row.nearest, row.nearest_run) == ("0/0", "monday")
    assert row.differing == (KeyDifference("config", "a", "x", "y"),)
    assert [row.nearest for row in lookup_rows(Graphs(dump))] == [None]


def test_a_kernel_is_compared_with_the_kernel_of_that_name_alone(tmp_path: Path) -> None:
    def kernel(compile_id: str, name: str, outcome: str, source: str) -> KernelLookup:
        return KernelLookup(graph=compile_id, cache="cpp", kernel=name, outcome=outcome, components={"source": source})

    dump = made(
        tmp_path,
        *(frame("0/0", "f"), frame("0/1", "f"), frame("1/0", "g")),
        *(part("source", "a", **{"1": "x", "2": "y"}), part("source", "b", **{"1": "x", "2": "z"})),
        *(kernel("0/0", "cpp_fused_0", "miss", "a"), kernel("0/0", "cpp_fused_1", "miss", "b")),
        *(kernel("1/0", "cpp_fused_0", "hit", "a"), kernel("0/1", "cpp_fused_0", "miss", "b")),
        lookup("0/0", gm="a"),
    )

    rows = lookup_rows(Graphs(dump))

    assert [(row.cache, row.kernel, row.nearest) for row in rows] == [
        ("fx_graph", "", None),
        ("cpp", "cpp_fused_0", None),
        ("cpp", "cpp_fused_1", None),
        ("cpp", "cpp_fused_0", None),
        ("cpp", "cpp_fused_0", "0/0"),
    ]
    assert rows[-1].differing == (KeyDifference("source", "2", "y", "z"),)


def test_differences_in_words() -> None:
    def told(name: str, member: str = "", before: str | None = None, after: str | None = None) -> str:
        return difference_text(KeyDifference(name, member, before, after))

    tensor = "TensorMetadata(dtype=torch.{}, shape=torch.Size([8, 8]), stride=({}, 1), device=device(type='cpu'))"
    assert told("example_inputs", "0", tensor.format("int8", 8), tensor.format("float32", 9)) == (
        "input 0: dtype torch.int8 → torch.float32, stride (8, 1) → (9, 1)"
    )
    assert told("inductor_config", "max_autotune", "False", "True") == (
        "torch._inductor.config.max_autotune: False → True"
    )
    assert told("fx_kwargs", "cudagraphs", None, "True") == "arguments of the compile (cudagraphs): nothing → True"
    assert told("torch_version") == "torch itself: its version, or a file of it"
    assert told("new_part", "x", "1", "1") == "new_part (x): 1, and another one that prints the same"
    assert told("gm") == "the graph: its code is the same, a constant or an object in it is not"
    assert told("source", "14", "x0<8;", "x0<9;") == "the kernel's source, line 14: x0<8; → x0<9;"
    assert told("joint_custom_pre_pass", "", "at 0x7f4fa87ef060", "at 0x7f4fd68d8720") == (
        "a custom pass of the joint graph: at 0x7f4fa87ef060 → at 0x7f4fd68d8720 "
        "(an address, which differs in each process)"
    )
    for before, after in (("1795631440.94", "1795631442.7"), ("built 2026-11-25 14:33", "built 2026-11-26 09:01")):
        assert told("cache_key_tag", "", before, after).endswith(" (a time)")
    assert told("cache_key_tag", "", "{'a', 'b'}", "{'b', 'a'}").endswith(
        " (the same elements in another order, as in a set)"
    )
    assert not told("cache_key_tag", "", "{'a', 'b'}", "{'b', 'c'}").endswith(")")
    assert told("gm", "3", "f(x, 'at 0x7f4fa87ef060')", "f(x, 'at 0x7f4fd68d8720')").endswith("in each process)")
    assert not told("gm", "3", "add(a, b)", "add(b, a)").endswith("in a set)")
    long = "x" * 200
    assert told("gm", "4", f"{long}a", f"{long}b") == f"the graph: …{'x' * 30}a → …{'x' * 30}b"
    assert differences_text([KeyDifference(str(number)) for number in range(6)]) == "0; 1; 2; 3; and 2 more"
