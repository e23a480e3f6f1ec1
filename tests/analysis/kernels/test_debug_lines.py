"""Where the lines of compiled kernels come from, held against what the compilers say of them elsewhere."""

import re
from pathlib import Path

import pytest

from inspect_compile.analysis.kernels.debug_lines import (
    PARSERS,
    Lines,
    Place,
    assembly_lines,
    llvm_lines,
    machine_lines,
    machine_lines_in_order,
    mlir_lines,
    objdump_lines,
)
from inspect_compile.analysis.kernels.instructions import count_instructions, operation, says_places_only
from tests.conftest import TESTS

RECORDED = TESTS / "data" / "stages"
SHIFT = 1
STAGES = sorted(path for path in RECORDED.rglob("triton*") if path.suffix[1:] in PARSERS)


def source_of(path: Path) -> list[str]:
    """Triton 3.6 compiled one of the kernels where there was a GPU, 3.7 the other one for GPUs that were not there."""
    of = RECORDED / "h200" if "h200" in path.parts else RECORDED
    return (of / "source.txt").read_text().splitlines()


def outermost(found: Lines) -> set[int]:
    return {stack[-1].line for line in found for stack in line}


@pytest.mark.parametrize("path", STAGES, ids=lambda path: f"{path.parent.name}{path.suffix}")
def test_each_line_is_of_the_kernel(path: Path) -> None:
    text = path.read_text()
    found = PARSERS[path.suffix[1:]](text)
    assert len(found) == len(text.splitlines())
    lines = {stack[-1] for line in found for stack in line}
    assert len({place.file for place in lines}) == 1
    source = source_of(path)
    defined = next(number for number, line in enumerate(source, 1) if line.startswith("def "))
    assert outermost(found) <= {line + SHIFT for line in range(defined, len(source) + 1)}
    done = {line for line, code in enumerate(source, 1) if re.search(r"tl\.(load|store)\(|maximum\(", code)}
    assert outermost(found) >= {line + SHIFT for line in done}


@pytest.mark.parametrize(
    "path", [path for path in STAGES if path.suffix.startswith(".tt")], ids=lambda path: path.parent.name + path.suffix
)
def test_values_are_of_the_lines_that_assign_them(path: Path) -> None:
    """MLIR names a value after the variable of the program."""
    text, source, seen = path.read_text(), source_of(path), 0
    for line, stacks in zip(text.splitlines(), mlir_lines(text), strict=True):
        named = re.match(r" +%((?:tmp|x)[a-z]*\d*)\w* = ", line)
        if named and stacks:
            seen += 1
            assert all(source[stack[-1].line - SHIFT - 1].strip().startswith(named[1]) for stack in stacks), line
    assert seen > 6


def test_assembly_and_llvm_agree() -> None:
    """LLVM's own nodes tell the calls; what it writes into ptx is a directive and a remark."""
    for path in RECORDED.rglob("*.ptx"):
        ptx = assembly_lines(path.read_text())
        llvm = llvm_lines(path.with_suffix(".llir").read_text())
        begun = {(ptx_line[0][0],) for ptx_line in ptx[:60] if ptx_line and ptx_line[0][0].line == 18}
        assert {stack for line in ptx for stack in line} | begun == {stack for line in llvm for stack in line} | begun


@pytest.mark.parametrize(
    ("path", "count"), zip(sorted(RECORDED.rglob("*.sass")), (48, 32), strict=True), ids=["3.6", "3.7"]
)
def test_machine_code_is_of_what_its_tool_says(path: Path, count: int) -> None:
    text, ptx = path.read_text(), assembly_lines(path.with_suffix(".ptx").read_text())
    found = machine_lines(text, ptx, {})
    place, checked, inlined = "", 0, 0
    for line, stacks in zip(text.splitlines(), found, strict=True):
        if line.startswith("\t//") and not line.startswith("\t//ptx:"):
            place = line.removeprefix("\t//")
        for stack in stacks:
            checked += 1
            inlined += len(stack) > 1
            assert f"{stack[0].file}:{stack[0].line}" == place
            assert stack[-1].line - SHIFT <= len(source_of(path))
    assert checked == count_instructions("sass", text) == count
    assert inlined > 2


def test_machine_code_that_names_no_lines_is_in_the_order_of_its_assembly() -> None:
    """As for AMD's: held against the lines that LLVM's tool tells when it is asked for them."""
    (path,) = RECORDED.rglob("*.isa")
    told, assembly = path.read_text(), path.with_suffix(".amdgcn").read_text()
    of_assembly = assembly_lines(assembly)
    found = machine_lines_in_order(told, assembly, of_assembly)
    place, checked = "", 0
    for line, stacks in zip(told.splitlines(), found, strict=True):
        if named := re.match(r"; .*/([^/]+:\d+)$", line):
            place = named[1]
        for stack in stacks:
            checked += 1
            assert f"{stack[0].file}:{stack[0].line}" == place
    assert checked == sum(map(bool, of_assembly)) > 20
    assert count_instructions("isa", told) > checked, "pads behind the program"
    other = told.replace("buffer_store", "global_store")
    assert not any(machine_lines_in_order(other, assembly, of_assembly)), "another program"


@pytest.mark.parametrize(
    ("name", "line", "done"),
    [
        ("ttir", "    %tmp0_1 = tt.load %tmp0_0 : tensor<256x!tt.ptr<f32>> loc(#loc5)", "tt.load"),
        ("ttgir", '    %4:2 = "tt.reduce"(%3) <{axis = 0 : i32}> loc(#loc)', "tt.reduce"),
        ("ttir", "    ^bb0(%x: f32 loc(unknown)):", ""),
        ("llir", "  %7 = tail call float @llvm.maximum.f32(float %5, float 0.0), !dbg !14", "call"),
        ("llir", "  store float %7, ptr %8, align 4, !dbg !14", "store"),
        ("llir", "define ptx_kernel void @k(ptr %0) {", ""),
        ("ptx", "\t@%p1 bra \t$L__BB0_2;", "bra"),
        ("ptx", "\tld.global.v2.b32 { %r1, %r2 }, [ %rd1 + 0 ];", "ld.global"),
        ("ptx", "\t.loc\t1 3 4", ""),
        ("amdgcn", "\tbuffer_load_dwordx4 v[0:3], v4, s[0:3], 0 offen", "buffer_load_dwordx4"),
        ("amdgcn", "\t.p2align\t8", ""),
        ("sass", "        /*0050*/              @!P0 LDG.E.128 R4, desc[UR4][R2.64] ;  /* 0x0 */", "LDG"),
        ("sass", "\t//ptx:4", ""),
        ("isa", "\ts_nop 0                         // 000000001618: BF800000", "s_nop"),
        ("isa", "0000000000001600 <k>:", ""),
        ("asm", "  12:    vaddps %zmm0,%zmm1,%zmm2", "vaddps"),
        ("asm", "kernel:", ""),
        ("none", "add", ""),
    ],
)
def test_what_a_line_does(name: str, line: str, done: str) -> None:
    assert operation(name, line) == done


def test_machine_code_without_lines_of_its_assembly() -> None:
    """Only a place that one call leads to is known then."""
    text = "\t//helper.py:5\n        /*0000*/ FADD ;\n\t//helper.py:6\n        /*0010*/ FMUL ;"
    here, there, twice = Place("helper.py", 5), Place("k.py", 9), Place("helper.py", 6)
    calls = {here: ((here, there),), twice: ((twice, there), (twice, Place("k.py", 10)))}
    assert machine_lines(text, [], calls) == [(), ((here, there),), (), ()]


def test_every_form_of_location() -> None:
    text = """#loc = loc("/cache/k.py":18:0)
#loc1 = loc(unknown)
#loc2 = loc("/cache/k.py":20:4 to 20:9)
#loc3 = loc("tmp\\"0"(#loc2))
#loc4 = loc(callsite("/lib/h.py":5:1 at callsite(#loc2 at #loc)))
#loc5 = loc(fused<"m">[#loc3, "/cache/k.py":21:0])
    %0 = a loc(#loc3)
    %1 = b loc(#loc4)
    %2 = c loc(#loc5)
    %3 = d loc(#loc1)
    %4 = "tt.reduce"(%3) ({
    ^bb0(%x: f32 loc(unknown)):
      yield loc(#loc2)
    }) : f32 loc(#loc)
    scf.if %4 {
    } else {
    } loc("/cache/k.py":30:1)
"""
    k = [Place("k.py", line) for line in range(40)]
    assert mlir_lines(text)[6:] == [
        ((k[20],),),
        ((Place("h.py", 5), k[20], k[18]),),
        ((k[20],), (k[21],)),
        (),
        ((k[18],),),
        (),
        ((k[20],),),
        ((k[18],),),
        ((k[30],),),
        (),
        ((k[30],),),
    ]
    assert assembly_lines(
        '\t.file 1 "/a" "k.py"\n\t.loc 1 3 4, function_name $L, inlined_at 1 9 2\n\tadd\n}\n\tret'
    ) == [
        *[()] * 2,
        ((k[3], k[9]),),
        *[()] * 2,
    ]
    calls = ((5, 9), (3, 5), (5, 7), (3, 5))
    chained = "\n".join(f".loc 1 {line} 2, function_name $L, inlined_at 1 {call} 2\n\tadd" for line, call in calls)
    assert [found for found in assembly_lines(f'\t.file 1 "k.py"\n{chained}') if found] == [
        ((k[5], k[9]),),
        ((k[3], k[5], k[9]),),
        ((k[5], k[7]),),
        ((k[3], k[5], k[7]),),
    ]


def test_inline_assembly_is_of_one_line() -> None:
    """Newer releases of LLVM count its lines on; a name with two colons is no label."""
    inline = ("// begin inline asm", ".loc 1 5 2", "createpolicy.fractional.L2::evict_last.b64 %rd2, 1.0;")
    after = (".loc 1 6 2", "ld.global %r1;", "// end inline asm", "mov %r2, 0;", ".loc 1 9 2", "add %r1;", "$L1:")
    assembly = "\n".join(f"\t{line}" for line in ('.file 1 "k.py"', ".loc 1 5 2", *inline, *after))

    assert [found for found in assembly_lines(assembly) if found] == [
        *[((Place("k.py", 5),),)] * 3,
        ((Place("k.py", 9),),),
    ]


def test_what_an_attacker_may_write() -> None:
    """Cut, and in no time."""
    around = "\n".join(f"#loc{i} = loc(fused[#loc{i + 1}, #loc{i + 1}, #loc{i + 2}])" for i in range(60))
    for text in (
        "#loc = loc(callsite(#loc at #loc))\n  %0 = x loc(#loc)",
        f"{around}\n  %0 = x loc(#loc0)",
        f"  %0 = x{' loc(' * 50_000}",
        f"  %0 = x loc({'callsite(' * 5_000}",
        f'  %0 = x loc("k.py":{"9" * 5_000}:0)',
        "#loc = loc(\n}\n}\n} loc(",
        "!1 = !DILocation(line: ², scope: !1, inlinedAt: !1)\n  %0 = x, !dbg !1",
        f"!1 = !DILocation({'a' * 500_000})\n  %0 = x, !dbg !1",
        f"\t.loc\t1 {'1' * 500_000} 2\n\tadd\n\t.loc 99 3 4\n\tadd",
        f"\t//{'a:1' * 300_000}\n/*0000*/ FADD\n\t//ptx:{'9' * 5_000}\n/*0000*/ FADD\n\t//ptx:0\n/*0000*/ FADD",
    ):
        for found in (*(parse(text) for parse in PARSERS.values()), machine_lines(text, [], {})):
            assert len(found) == len(text.splitlines())
        assert len(mlir_lines(text)[-1]) <= 16
        text_, lines = objdump_lines(text, "k.py")
        assert len(text_.splitlines()) == len(lines)


def test_machine_code_of_a_cpu() -> None:
    told = """
k.o:     file format elf64-x86-64

0000000000000000 <other>:
other():
/usr/include/x.h:3
   0:\tret
0000000000000010 <kernel>:
kernel():
/work/<stdin>:11
  10:\tpush   %r13
at::vec::add(float):
/lib/vec.h:80
inlined by /work/<stdin>:15 (kernel)
  12:\tvaddps %zmm0,%zmm1,%zmm2
  14:\tvaddps %zmm0,%zmm1,%zmm2
inlined by /lib/vec.h:90 (at::vec::sum)
inlined by /work/<stdin>:16 (kernel)
  18:\tvaddps %zmm0,%zmm1,%zmm2
kernel():
/work/<stdin>:17 (discriminator 2)
  1c:\tret
"""
    text, found = objdump_lines(told, "<stdin>")
    at = [Place("<stdin>", line) for line in range(20)]
    vec, more = Place("vec.h", 80), Place("vec.h", 90)
    assert text.splitlines()[0] == "kernel:"
    assert found == [(), ((at[11],),), *[((vec, at[15]),)] * 2, ((vec, more, at[16]),), ((at[17],),)]


def test_lines_that_only_tell_places() -> None:
    for line in (
        '#loc3 = loc("k.py":3:4)',
        "!7 = distinct !DISubprogram(name: x)",
        "\t.loc\t1 3 4",
        "\t//k.py:3",
        "\t//ptx:4",
    ):
        assert says_places_only(line)
    for line in ("#blocked = #ttg.blocked<>", "!llvm.ident = !{!1}", "\tadd.f32", "  /*0000*/ FADD ;"):
        assert not says_places_only(line)
