"""`name`: what a kernel's name means, whichever tool printed it."""

import json
from pathlib import Path

import pytest

from inspect_compile.analysis.lookup import kernel_symbols
from inspect_compile.analysis.lookup.answer import Unknown
from inspect_compile.analysis.lookup.named_kernel import Resolved
from inspect_compile.analysis.lookup.names import Names
from inspect_compile.commands import main
from inspect_compile.dump import open_dump
from inspect_compile.facts import Binary, Fact, Stage
from inspect_compile.tables.lookup_text import only
from tests.conftest import DumpOf
from tests.handmade import GRAPH, at, graph, kernel, made, node
from tests.profiles import recordings

CONV_0, CONV_1, CONV_RELU = (
    "triton_poi_fused_convolution_0",
    "triton_poi_fused_convolution_1",
    "triton_poi_fused_convolution_relu_2",
)
LAST = "triton_red_fused__softmax_add_exp_mean_mul_sub_view_5"
SOFTMAX = "triton_per_fused__softmax_add_exp_mean_mul_prepare_softmax_online_sub_sum_view_4"


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return recordings.dump_of(recordings.GIVEN, tmp_path_factory.mktemp("dump")).root


@pytest.fixture(scope="module")
def names(root: Path) -> Names:
    return Names(open_dump(root))


@pytest.mark.parametrize(
    ("asked", "meant", "confidence"),
    [
        (CONV_0, [CONV_0], "certain"),
        ("triton_poi_fused_convolution", [CONV_0, CONV_1, CONV_RELU], "ambiguous"),
        ("triton_per_fused__soft…view_4", [SOFTMAX], "certain"),
        ("triton__0d1d2c3d", [LAST], "certain"),
        ("triton__0d1d2c3de", [LAST], "certain"),
        ("triton__0d1d23d", [CONV_0], "certain"),
        (f"{CONV_1}:2", [CONV_1], "certain"),
        ("extern_kernels.addmm:6", ["extern_kernels.addmm"], "certain"),
        ("aten::convolution", ["extern_kernels.convolution"], "certain"),
        ("output_code.py:400", ["extern_kernels.convolution"], "certain"),
        ("output_code.py:46", [CONV_0], "certain"),
        (f"{CONV_1}.run(arg0_1, buf1, 100, 9, stream=stream0)", [CONV_1], "certain"),
        ("sm80_xmma_fprop_implicit_gemm_f32f32_f32f32_f32", ["extern_kernels.convolution"], "certain"),
        ("nvjet_sm90_tst_64x32", ["extern_kernels.convolution", "extern_kernels.addmm"], "possible"),
    ],
)
def test_a_name_ends_at_its_kernel(names: Names, asked: str, meant: list[str], confidence: str) -> None:
    found = only(names.find(asked))

    assert [row.kernel for row in found.kernels] == meant
    assert {row.confidence for row in found.kernels} == {confidence}
    assert all(row.lines and row.nodes and row.launches for row in found.kernels)


def test_a_file_of_torchs_cache(names: Names) -> None:
    path = only(names.find(CONV_RELU)).kernels[0].path
    stem = path.rpartition("/")[2].removesuffix(".py")

    for asked in (path, f"{stem}.py", stem, stem[:12]):
        assert [row.kernel for row in only(names.find(asked)).kernels] == [CONV_RELU]


def test_the_check_sum_of_a_compiled_stage(tmp_path: Path) -> None:
    """A stranger's dump may name any path as that of a stage."""
    stages = tuple(
        Stage(name, path, 3) for name, path in (("cubin", "k.cubin"), ("ptx", "x" * 5000), ("ttir", "../.."))
    )
    dump = made(tmp_path, graph(), kernel("a", "op0"), Binary(graph=GRAPH, kernel="a", label="", stages=stages))
    (dump.folder(GRAPH) / "k.cubin").write_bytes(b"abc")

    found = only(Names(dump).find("ba7816bf8f01cfea"))  # of SHA-256's own example

    assert [row.kernel for row in found.kernels] == ["a"]
    assert isinstance(Names(dump).find("0" * 64), Unknown)


@pytest.mark.parametrize("asked", ["flash_fwd_kernel", "triton__0d1c", "output_code.py:2", "nonsense"])
def test_what_means_nothing_says_what_is_near(names: Names, asked: str) -> None:
    answer = names.find(asked)

    if isinstance(answer, Unknown):
        assert answer.near or answer.there
    else:  # it is recognised, and no kernel of the dump is called so
        assert not only(answer).kernels
        assert only(answer).remarks


def test_the_names_of_triton_2_are_decoded() -> None:
    """kernel_suffix of its compiler: the number of each argument, then c, d and e for what holds of it."""
    found = kernel_symbols.decode("triton__0d1c")
    assert found is not None
    assert (found.function, found.letters) == ("triton_", ("d", "c"))
    assert found.words == "argument 0 divisible by 16, argument 1 equal to 1"

    long = kernel_symbols.decode("blend_kernel_0d1d2de34567891011d")
    assert long is not None
    assert (long.function, long.letters) == ("blend_kernel", ("d", "d", "de", *[""] * 8, "d"))
    assert kernel_symbols.suffix(long.letters) == "0d1d2de34567891011d"

    for name in ("triton_poi_fused_relu_2", "triton_poi_fused_add_0", "triton_", "kernel_1d2d", "triton__0d2d"):
        assert kernel_symbols.decode(name) is None, name


def test_the_signature_of_a_source_of_an_older_torch() -> None:
    """The line of the person who asked what triton__0d1c is, torch 2.2."""
    source = (
        "@pointwise(\n    triton_meta={'signature': {0: '*i1', 1: 'i32'}, 'device': 0, 'constants': {1: 1}, 'configs': "
        "[instance_descriptor(divisible_by_16=(0,), equal_to_1=(1,), ids_of_folded_args=(1,), divisible_by_8=())]},\n"
    )
    assert kernel_symbols.of_source(source) == ("d", "c")


def _told(found: Resolved) -> list[tuple[str, int]]:
    return [(row.kernel, where.line) for row in found.kernels for where in row.lines]


def test_c_plus_plus_symbols_of_a_cpu_run(dump_of: DumpOf) -> None:
    """Every C++ kernel of Inductor is called `kernel`: its parameters tell some of them apart."""
    names = Names(open_dump(dump_of("softmax_mlp").dump))
    all_of_them = only(names.find("kernel"))
    cpp = [row for row in all_of_them.kernels if row.kind == "cpp"]
    assert len(cpp) == len(all_of_them.kernels) == 2
    assert {row.confidence for row in cpp} == {"ambiguous"}

    for row in cpp:
        mangled = f"_Z{len(row.kernel)}{row.kernel}PfPKf"
        assert _told(only(names.find(mangled))) == _told(only(names.find(row.kernel))) != []
    one = only(names.find("kernel(float*, float const*, float*)"))
    assert one.kernels


def test_the_command(root: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "120")

    assert main(["name", str(root), "triton__0d1d2c3d", "triton_"]) == 0
    told = " ".join(capsys.readouterr().out.split())
    assert "argument 2 equal to 1" in told
    assert "net.py:15 return z.sum(-1), (z * 2 + 1).mean()" in told
    assert "Ambiguous: 6 kernels" in told
    assert "To tell them apart" in told

    assert main(["name", "--json", str(root), CONV_0]) == 0
    row = json.loads(capsys.readouterr().out)
    assert (row["fact"], row["kernel"], row["launches"], row["confidence"]) == (
        "named_kernel",
        CONV_0,
        [392],
        "certain",
    )


@pytest.mark.parametrize(
    ("words", "status", "told"),
    [
        (["nonsense"], 1, "nonsense: no kernel of this name; "),
        (["output_code.py:2"], 1, "output_code.py:2: this line neither defines nor calls a kernel in "),
        (["output_code.py:" + "9" * 5000], 1, ": no kernel of this name; there are: "),
        ([], 2, "which name?"),
    ],
)
def test_errors_are_one_line(
    words: list[str], status: int, told: str, root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["name", str(root), *words]) == status

    error = capsys.readouterr().err
    assert told in error
    assert error.count("\n") == 1


def test_the_kernels_of_one_signature_are_ambiguous(tmp_path: Path) -> None:
    """The person's program: five fills of one element, and an arange of ten."""
    kernels = [f"triton_poi_fused_lift_fresh_{number}" for number in (0, 2, 3, 4, 5)] + ["triton_poi_fused_arange_1"]
    facts: list[Fact] = [graph()]
    for number, own in enumerate(kernels):
        more = {"kind": "triton", "source": f"kernels/{own}/source.py", "launches": (31 + number,)}
        facts += [kernel(own, f"op{number}", nodes=(f"full_{number}",), **more)]
        facts += [node(f"full_{number}", "aten.full.default", where=at(12 + number, "torch.tensor(False)"))]
    dump = made(tmp_path, *facts)
    for own in kernels:
        source = dump.folder(GRAPH) / "kernels" / own / "source.py"
        source.parent.mkdir(parents=True)
        size = "'xnumel': 'i32'" if "arange" in own else "'xnumel': 'constexpr'"
        constants = "{}" if "arange" in own else "{'xnumel': 1}"
        source.write_text(
            f"    triton_meta={{'signature': {{'out_ptr0': '*i1', {size}, 'XBLOCK': 'constexpr'}}, 'device': "
            f"DeviceProperties(type='cuda', cc=90), 'constants': {constants}, 'configs': [{{(0,): [['tt.divisibility', "
            f"16]]}}]}},\n@triton.jit\ndef triton_(out_ptr0, xnumel, XBLOCK : tl.constexpr):\n"
        )

    found = only(Names(dump).find("triton__0d1c"))

    assert [row.kernel for row in found.kernels] == kernels[:-1]
    assert {row.confidence for row in found.kernels} == {"ambiguous"}
    assert "argument 0 divisible by 16, argument 1 equal to 1" in found.how
    assert found.remarks[0] == "triton_poi_fused_arange_1 is not one of them: it is triton__0d1"
    assert [row.kernel for row in only(Names(dump).find("triton__0d1")).kernels] == kernels[-1:]
