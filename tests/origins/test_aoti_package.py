"""A package of AOTInductor beside a recording of the process that made it."""

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch

from inspect_compile.commands import main
from inspect_compile.dump import Dump, open_dump
from inspect_compile.facts import Artifact, Binary, Fact, Graph, Kernel, MemoryPlan, OriginRecords, WrapperLine
from inspect_compile.knowledge.origins import AOTI_PACKAGE, PACKAGE, note
from inspect_compile.origins.cpp_wrapper import read_cpp_code
from inspect_compile.origins.graph_texts import CODE, read_graph
from inspect_compile.origins.packages import is_package, read_package
from inspect_compile.origins.torch_trace.reader import Trace
from inspect_compile.tables import TABLES
from tests.conftest import run_once
from tests.private_names import version
from tests.running import inspected

PROGRAM = Path(__file__).parent / "programs" / "packaged.py"
_OF_LINE = (
    "line", "end", "what", "buffer", "becomes", "bytes", "kernel", "arguments", "is_planned", "device", "torch_type",
    "delete_old", "is_reused",
)  # fmt: skip
_BYTES = _OF_LINE.index("bytes")
TORCH = version(torch.__version__)
_OF_KERNEL = ("name", "kind", "form", "device", "launches", "source")


@pytest.fixture(scope="session")
def both(shared_folder: Path, inductor_cache: Path) -> tuple[Dump, Path]:
    """The recorded dump, and the package that the same process made."""
    folder = shared_folder / "aoti_package"
    environment = {"TORCHINDUCTOR_CACHE_DIR": str(inductor_cache), "INDUCTOR_PROVENANCE": "1"}
    done = run_once(folder, lambda folder: inspected([PROGRAM, "aoti"], folder, environment=environment))
    assert done.returncode == 0, done.stderr
    return Dump(folder / "dump"), folder / "aoti.pt2"


def read(path: Path, root: Path) -> Dump:
    assert is_package(path)
    read_package(path, root)
    return open_dump(root)


def values(dump: Dump, kind: type[Fact], *names: str) -> list[tuple[Any, ...]]:
    return [tuple(getattr(row, name) for name in names) for row in dump.rows(kind)]


def test_its_rows_are_those_that_were_recorded(both: tuple[Dump, Path], tmp_path: Path) -> None:
    recorded, dump = both[0], read(both[1], tmp_path / "dump")
    assert (dump.run.origin, dump.run.notes) == (AOTI_PACKAGE, (note(AOTI_PACKAGE),))
    [graph] = dump.rows(Graph)
    assert (graph.graph, graph.device, graph.is_cpp_wrapper, graph.inputs) == ("model", "cpu", True, 1)
    lines = [row for row in values(recorded, WrapperLine, *_OF_LINE) if row[0] is not None]
    assert any(row[2] == "launch" for row in lines)
    told = dict(enumerate(lines))
    for place, row in enumerate(values(dump, WrapperLine, *_OF_LINE)):
        if row[_BYTES] is None and row[_OF_LINE.index("torch_type")] == "FreeLine":  # torch 2.11 says nothing of inputs
            told[place] = (*told[place][:_BYTES], None, *told[place][_BYTES + 1 :])
        assert row == told.pop(place)
    assert not told
    assert sorted(values(dump, Kernel, *_OF_KERNEL)) == sorted(values(recorded, Kernel, *_OF_KERNEL))
    plans = values(dump, MemoryPlan, "inputs", "outputs")
    assert plans == values(recorded, MemoryPlan, "inputs", "outputs") or (not plans and TORCH < (2, 13))
    for name in (kernel.source for kernel in dump.rows(Kernel) if kernel.source):
        [theirs] = [folder for folder in recorded.root.glob("torchinductor/*/") if (folder / name).exists()]
        assert (dump.folder("model") / name).read_text() == (theirs / name).read_text()


def test_kernels_have_their_nodes_where_torch_wrote_which(both: tuple[Dump, Path], tmp_path: Path) -> None:
    recorded, dump = both[0], read(both[1], tmp_path / "dump")
    told = {kernel.name: set(kernel.nodes) for kernel in recorded.rows(Kernel)}
    for kernel in dump.rows(Kernel):
        assert kernel.nodes
        assert set(kernel.nodes) <= told[kernel.name]
        assert {line.file for line in kernel.lines} <= {str(PROGRAM)}
    assert any(kernel.lines for kernel in dump.rows(Kernel))


def test_weights_by_name_and_size(both: tuple[Dump, Path], tmp_path: Path) -> None:
    texts = {row.name: row.text.split("\n") for row in read(both[1], tmp_path / "dump").rows(Artifact)}
    assert "qkv.weight  float32  3,072 bytes" in texts["weights of model"]
    assert "scale  float32  64 bytes" in texts["weights of model"]


@pytest.mark.parametrize("table", sorted(TABLES))
def test_every_table_of_it(
    table: str, both: tuple[Dump, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    read_package(both[1], tmp_path / "dump")
    assert main(["show", str(tmp_path / "dump"), table]) in (0, 1, 2)
    shown = capsys.readouterr()
    assert "Traceback" not in shown.err
    if table in ("nodes", "lowering", "schedule", "time", "memory"):
        assert f"{table}: not known, since a package of AOTInductor does not hold it" in shown.out + shown.err


def test_it_is_compared_with_itself(
    both: tuple[Dump, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert main(["diff", str(both[1]), str(both[1])]) == 0
    assert "no difference" in capsys.readouterr().out.lower()


def test_a_log_of_the_same_has_the_same(both: tuple[Dump, Path], tmp_path: Path) -> None:
    """TORCH_TRACE has the wrapper and the kernels as two records."""
    with zipfile.ZipFile(both[1]) as archive:
        [text] = [archive.read(name).decode() for name in archive.namelist() if name.endswith(".cpp")]
    begin, kernels = (
        text.index("void AOTInductorModel::run_impl"),
        text.index("#include <torch/csrc/inductor/cpp_prefix"),
    )
    assert begin < kernels
    lines = []
    for name, part in (("wrapper", text[:kernels]), ("kernel", text[kernels:])):
        head = {"graph_dump": {"name": f"inductor_aot_{name}_code", "type": "cpp"}, "has_payload": "x"}
        lines += [f"V1 x] {json.dumps(head)}\n", *(f"\t{line}\n" for line in part.split("\n"))]
    facts = list(Trace().facts(line.encode() for line in lines))
    dump = read(both[1], tmp_path / "dump")
    for kind, names in ((Kernel, _OF_KERNEL[:5]), (WrapperLine, _OF_LINE)):
        told = [tuple(getattr(row, name) for name in names) for row in facts if isinstance(row, kind)]
        assert sorted(told, key=str) == sorted(values(dump, kind, *names), key=str)


def test_the_wrapper_that_cpp_wrapper_makes(tmp_path: Path, inductor_cache: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text("import torch\ntorch.compile(lambda x: (x @ x).relu().softmax(-1))(torch.randn(8, 8))\n")
    environment = {"TORCHINDUCTOR_CPP_WRAPPER": "1", "TORCHINDUCTOR_CACHE_DIR": str(inductor_cache)}
    done = inspected([program], tmp_path, environment=environment)
    assert done.returncode == 0, done.stderr
    recorded = Dump(tmp_path / "dump")
    [graph] = recorded.rows(Graph)
    read = read_graph("g", "inference", {CODE: (recorded.folder(graph.graph) / CODE).read_text()})
    assert not read.note
    [ours] = [fact for fact in read.facts if isinstance(fact, Graph)]
    assert (ours.inputs, ours.device, ours.is_cpp_wrapper) == (graph.inputs, "cpu", True)
    for kind, names in ((Kernel, _OF_KERNEL), (WrapperLine, _OF_LINE), (MemoryPlan, ("inputs", "outputs"))):
        told = [row for row in values(recorded, kind, *names) if kind is not WrapperLine or row[0] is not None]
        mine = [tuple(getattr(fact, name) for name in names) for fact in read.facts if isinstance(fact, kind)]
        assert sorted(mine, key=str) == sorted(told, key=str)


WRAPPER = """
{definitions}
void AOTInductorModel::run_impl(
    AtenTensorHandle*
        input_handles,
    DeviceStreamType stream
) {{
{body}
}} // AOTInductorModel::run_impl
"""
GPU = """
static inline void call_triton_poi_fused_add_0(const AtenTensorHandle& in_ptr0, int64_t xnumel) {
    if (kernels_.triton_poi_fused_add_0 == nullptr) {
        kernels_.triton_poi_fused_add_0 = loadKernel("/tmp/x/cabc.cubin", "triton_poi_fused_add_0", 128, cubin_dir_);
    }
    launchKernel(kernels_.triton_poi_fused_add_0, grid_0, grid_1, grid_2, 4, 128, kernel_args_, stream_);
}"""
GPU_BODY = """
    auto arg0_1 = std::move(inputs[0]);
    static constexpr int64_t int_array_0[] = {4L, 8L};
    static constexpr int64_t int_array_1[] = {8L, 1L};
    AtenTensorHandle buf0_handle;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided(2, int_array_0, int_array_1, cached_torch_dtype_float16, cached_torch_device_type_cuda, this->device_idx_, &buf0_handle));
    RAIIAtenTensorHandle buf0(buf0_handle);
    call_triton_poi_fused_add_0(arg0_1, buf0, 32L, this->device_idx_, stream, kernels, this->cubin_dir_);
    output_handles[0] = buf0.release();"""  # noqa: E501


def wrapper(definitions: str, body: str) -> str:
    return WRAPPER.format(definitions=definitions, body=body)


def package(path: Path, members: Mapping[str, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(f"a/data/aotinductor/model/{name}", data)
    return path


def test_the_form_of_a_gpu(tmp_path: Path) -> None:
    """As torch 2.13 writes it; there is no GPU here that would compile one."""
    members = {"x.wrapper.cpp": wrapper(GPU, GPU_BODY).encode(), "cabc.cubin": b"\x7fELF\x02\x01 torn"}
    dump = read(package(tmp_path / "a.pt2", members), tmp_path / "dump")
    [kernel], [binary] = dump.rows(Kernel), dump.rows(Binary)
    assert (kernel.name, kernel.kind, kernel.form, kernel.device) == (
        "triton_poi_fused_add_0", "triton", "pointwise", "cuda",
    )  # fmt: skip
    assert len(kernel.launches) == 1
    assert (binary.num_warps, binary.shared, binary.registers) == (4, 128, None)
    assert [stage.name for stage in binary.stages] == ["cubin"]
    sizes = [(row.what, row.buffer, row.bytes) for row in dump.rows(WrapperLine) if row.what == "allocate"]
    assert sizes == [("allocate", "buf0", 64)]
    assert dump.run.device == "cuda"


def test_a_package_with_an_exported_program_has_both(tmp_path: Path) -> None:
    path = package(tmp_path / "a.pt2", {"x.wrapper.cpp": wrapper(GPU, GPU_BODY).encode()})
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("a/models/model.json", '{"graph_module": {"graph": {"nodes": [{"target": "a"}]}}}')
    dump = read(path, tmp_path / "dump")
    assert dump.run.origin == PACKAGE
    assert sorted(graph.graph for graph in dump.rows(Graph)) == ["model", "model_aoti"]


def test_what_is_not_known_stays_unknown() -> None:
    body = """
    auto arg0_1 = std::move(inputs[0]);
    int64_t s77 = arg0_1_size[0];
    const int64_t int_array_0[] = {s77, 99999999999999999999L};
    AtenTensorHandle buf0_handle;
    AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided(1, int_array_0, int_array_7, cached_torch_dtype_odd, cached_torch_device_type_cpu, 0, &buf0_handle));
    RAIIAtenTensorHandle buf0(buf0_handle);
    somebody_elses_call(buf0);
    if (x) {
    while (
    output_handles[0] = wrap(buf0);"""  # noqa: E501
    code = read_cpp_code("g", wrapper("", body))
    rows = [fact for fact in code.facts if isinstance(fact, WrapperLine)]
    assert [(row.what, row.buffer, row.bytes) for row in rows] == [
        ("allocate", "buf0", None),
        ("text", None, None),
        ("text", None, None),
        ("text", None, None),
    ]
    assert not [fact for fact in code.facts if isinstance(fact, (MemoryPlan, Kernel))]


def test_hostile_lines_take_no_time() -> None:
    long = "a" * 90_000
    lines = (
        f"AOTI_TORCH_ERROR_CODE_CHECK(aoti_torch_empty_strided(1, {'&a' * 30_000}",
        f"auto a = wrap_with_raii_handle_if_needed(reinterpret_tensor_wrapper(a, {')); ' * 20_000}",
        f"kernels_.{long} = loadKernel(",
        "launchKernel(" * 7000,
        f"output_handles[0] = {'a(' * 40_000}",
        f"call_x({'(' * 80_000})",
        long,
        f"int64_t int_array_0[] = {{{'9' * 80_000}}};",
        "assert_size_stride(" * 4000,
    )
    code = read_cpp_code("g", wrapper("\n".join(lines), "\n".join(lines) * 3))
    assert not code.note


@pytest.mark.parametrize("text", ["", "void other() {\n}", "x" * 1000])
def test_code_without_the_function_is_said(text: str, tmp_path: Path) -> None:
    path = package(tmp_path / "a.pt2", {"x.wrapper.cpp": text.encode(), "kernel_information.json": b"[" * 100_000})
    dump = read(path, tmp_path / "dump")
    assert "the generated code of model has no function that is known" in dump.run.notes
    assert [row.what for row in dump.rows(OriginRecords)] == ["C++ code", "metadata"]
    assert not dump.rows(Kernel)


def test_information_of_wrong_types(tmp_path: Path) -> None:
    wrong = {"triton_poi_fused_add_0:1": {"stack_traces": [1, "x", None], "post_grad_nodes": 3}, "b": [], "c:": {}}
    members = {"x.wrapper.cpp": wrapper(GPU, GPU_BODY).encode(), "kernel_information.json": json.dumps(wrong).encode()}
    [kernel] = read(package(tmp_path / "a.pt2", members), tmp_path / "dump").rows(Kernel)
    assert (kernel.nodes, kernel.lines) == ((), ())
