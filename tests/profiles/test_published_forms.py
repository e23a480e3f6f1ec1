"""Exports of Nsight in the form that its manuals and public files show: preambles, units, separators, empty cells."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from inspect_compile.profiles import Profile, nsys
from inspect_compile.profiles.read import read

PROCESS = 0x0100_0000_0000_0000 | 4321 << 24
"""A global id as the export has it: hardware, virtual machine, process; the lowest 24 bits name a thread."""

SCHEMA = """
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT);
CREATE TABLE TARGET_INFO_GPU (vmId INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT, busLocation TEXT);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (
    start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL,
    greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
    demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER, launchType INTEGER,
    gridX INTEGER NOT NULL, gridY INTEGER NOT NULL, gridZ INTEGER NOT NULL,
    blockX INTEGER NOT NULL, blockY INTEGER NOT NULL, blockZ INTEGER NOT NULL, graphNodeId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (
    start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL,
    greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
    bytes INTEGER NOT NULL, copyKind INTEGER NOT NULL, graphNodeId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (
    start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER,
    correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER NOT NULL, callchainId INTEGER);
CREATE TABLE NVTX_EVENTS (
    start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, category INTEGER,
    color INTEGER, text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (
    start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL,
    greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
    graphId INTEGER NOT NULL, graphExecId INTEGER NOT NULL);
"""

STRINGS = {
    1: "void at::native::vectorized_elementwise_kernel<(int)4, float>(int, T2, T3)",
    2: "vectorized_elementwise_kernel",
    3: "triton_poi_fused_relu_0",
    4: "cudaLaunchKernel_v7000",
    5: "cuLaunchKernelEx",
    6: "cudaGraphLaunch_v10000",
    7: "cudaStreamSynchronize_v3020",
    8: "aten::relu, seq = 12, op_id = 3",
}


def _export(path: Path, *statements: tuple[str, tuple[object, ...]]) -> Profile:
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(SCHEMA)
        connection.executemany("INSERT INTO StringIds VALUES (?, ?)", STRINGS.items())
        connection.execute("INSERT INTO TARGET_INFO_GPU VALUES (0, 0, 'NVIDIA H200', '0000:01:00.0')")
        for table, row in statements:
            connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", row)
        connection.commit()
    return read(path)


def _kernel(
    start: int, correlation: int | None, names: tuple[int, int], node: int | None = None
) -> tuple[str, tuple[object, ...]]:
    owner = PROCESS if correlation is not None else None
    row = (start, start + 2848, 0, 1, None, 7, correlation, owner, *names, None, 1, 128, 2, 1, 256, 1, 1, node)
    return "CUPTI_ACTIVITY_KIND_KERNEL", row


def _call(start: int, correlation: int | None, name: int) -> tuple[str, tuple[object, ...]]:
    return "CUPTI_ACTIVITY_KIND_RUNTIME", (start, start + 500, 0, PROCESS | 4321, correlation, name, 0, None)


def test_a_sqlite_export(tmp_path: Path) -> None:
    """Names are ids of strings, correlations may be missing; the kernels of a CUDA graph share that of its launch."""
    found = _export(
        tmp_path / "x.sqlite",
        _kernel(10_000, 51, (1, 2)),
        _kernel(20_000, 52, (3, 3)),
        _kernel(30_000, 53, (3, 3), node=4_294_967_299),
        _kernel(40_000, None, (3, 3)),
        ("CUPTI_ACTIVITY_KIND_MEMCPY", (5_000, 6_500, 0, 1, None, 7, 50, PROCESS, 4096, 1, None)),
        _call(9_000, 51, 4),
        _call(19_000, 52, 5),
        _call(29_000, 53, 6),
        _call(39_000, 54, 7),
        _call(39_500, None, 4),
        ("NVTX_EVENTS", (8_000, 12_000, 59, None, None, None, None, PROCESS | 4321, None, 8, 0)),
        ("NVTX_EVENTS", (9_000, None, 34, None, None, None, "a mark", PROCESS | 4321, None, None, 0)),
        ("NVTX_EVENTS", (0, None, 75, None, None, None, "torch", PROCESS | 4321, None, None, 1)),
    )

    kernels = [run for run in found.runs if run.kind == "kernel"]
    assert [run.name for run in kernels] == [STRINGS[1], STRINGS[3], STRINGS[3], STRINGS[3]]
    assert {run.duration for run in kernels} == {2.848}
    assert [run.in_graph for run in kernels] == [False, False, True, False]
    assert kernels[0].grid == (128, 2, 1)
    assert [call.name for call in found.calls] == ["cudaLaunchKernel", "cuLaunchKernelEx", "cudaGraphLaunch"]
    assert [run.correlation for run in kernels] == [*(call.correlation for call in found.calls), None]
    assert [(span.name, span.sequence) for span in found.spans] == [("aten::relu", 12)]
    assert (found.device, found.damaged, found.whole_graphs) == ("NVIDIA H200", 0, 0)
    assert [run.duration for run in found.runs if run.kind == "memcpy"] == [1.5]


def test_cuda_graphs_that_were_recorded_as_a_whole(tmp_path: Path) -> None:
    """What nsys does unless told otherwise: their kernels are missing, and it is said how to have them."""
    replay = ("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", (30_000, 90_000, 0, 1, None, 7, 53, PROCESS, 5, 6))

    assert _export(tmp_path / "both.sqlite", _kernel(10_000, 51, (3, 3)), replay, replay).whole_graphs == 2
    with pytest.raises(ValueError, match=r"2 replays of CUDA graphs, and no kernel of them.*--cuda-graph-trace=node"):
        _export(tmp_path / "whole.sqlite", replay, replay)


def test_a_table_without_what_the_schema_says_is_told(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, streamId INTEGER)")
        connection.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1, 2)")
        connection.commit()

    found = read(path)

    assert (found.runs, found.damaged) == ([], 1)


def test_the_csv_of_nsys_stats_behind_what_it_says(tmp_path: Path) -> None:
    """Copies have no grid; the unit is in the header, here that of --timeunit; later versions have a green context."""
    path = tmp_path / "x.csv"
    path.write_text(
        "\nNOTICE: Existing SQLite export found: x.sqlite\n"
        "        It is assumed file was previously exported from: x.nsys-rep\n"
        "        Consider using --force-export=true if needed.\n\n"
        "Processing [x.sqlite] with [/opt/nvidia/nsight-systems/reports/cuda_gpu_trace.py]... \n"
        "Start (us),Duration (us),CorrId,GrdX,GrdY,GrdZ,BlkX,BlkY,BlkZ,Reg/Trd,StcSMem (MB),DymSMem (MB),Bytes (MB),"
        "Throughput (MB/s),SrcMemKd,DstMemKd,Device,Ctx,GreenCtx,Strm,Name\n"
        "100.5,1.472,120,,,,,,,,,,0.004,2782.000,Pageable,Device,NVIDIA H200 (0),1,,7,[CUDA memcpy Host-to-Device]\n"
        '250.0,2.848,133,1024,1,1,128,1,1,32,0.000,0.000,,,,,NVIDIA H200 (0),1,,7,"void k<(int)4, float>(int, T2)"\n'
    )

    found = read(path)

    assert found.tool == nsys.TOOL
    assert [(run.kind, run.start, run.duration, run.correlation) for run in found.runs] == [
        ("memcpy", 100.5, 1.472, 120),
        ("kernel", 250.0, 2.848, 133),
    ]
    assert found.runs[1].name == "void k<(int)4, float>(int, T2)"
    assert found.runs[1].grid == (1024, 1, 1)
    assert found.runs[1].stream == 7
    assert (found.device, found.damaged) == ("NVIDIA H200", 0)


def test_the_sums_of_kernels_with_their_launches(tmp_path: Path) -> None:
    """cuda_kern_exec_sum: the time of the kernel is the one with K, beside those of the call and of the queue."""
    path = tmp_path / "x.csv"
    path.write_text(
        "PID,TID,DevId,Count,QCount,TAvg (ns),TMed (ns),AAvg (ns),AMed (ns),QAvg (ns),QMed (ns),KAvg (ns),KMed (ns),"
        "API Name,Kernel Name\n"
        "4321,4321,0,40,40,9000.0,9000.0,1712.7,1700.0,2900.5,2800.0,844.5,832.0,cuLaunchKernelEx,triton_poi_fused_relu_0\n"
    )

    (run,) = read(path).runs

    assert (run.name, run.count) == ("triton_poi_fused_relu_0", 40)
    assert run.duration == pytest.approx(40 * 0.8445)


NCU_COLUMNS = (
    '"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream",'
    '"Block Size","Grid Size","Device","CC"'
)
NCU_PREAMBLE = (
    "==PROF== Connected to process 4321 (/usr/bin/python3.11)\n"
    '"a line of the program, with one quotation mark\n'
    '==PROF== Profiling "triton_poi_fused_relu_0" - 0: 0%....50%....100% - 8 passes\n'
    "==PROF== Disconnected from process 4321\n"
)


def _ncu_row(number: int, *more: str) -> str:
    name = ("triton_poi_fused_relu_0", "void k<(int)4>(int, T2)")[number]
    cells = (str(number), "4321", "python3.11", "127.0.0.1", name, "1", "7", "(128, 1, 1)", "(1024, 2, 1)", "0", "9.0")
    return ",".join(f'"{cell}"' for cell in (*cells, *more)) + "\n"


def test_the_details_page_of_nsight_compute(tmp_path: Path) -> None:
    """A row a metric, numbers with separators, and rows of rules that have no metric."""
    path = tmp_path / "x.csv"
    rules = '"Rule Name","Rule Type","Rule Description","Estimated Speedup Type","Estimated Speedup"'
    empty, section = ("",) * 5, "GPU Speed Of Light Throughput"
    path.write_text(
        f'{NCU_PREAMBLE}{NCU_COLUMNS},"Section Name","Metric Name","Metric Unit","Metric Value",{rules}\n'
        + _ncu_row(0, section, "DRAM Frequency", "Ghz", "3.20", *empty)
        + _ncu_row(0, section, "Duration", "ns", "2,848", *empty)
        + _ncu_row(0, "SpeedOfLight", "", "", "", "SOLBottleneck", "OPT", "This kernel, too, is small.", "", "")
        + _ncu_row(1, section, "Duration", "us", "1,024.50", *empty)
    )

    found = read(path)

    assert [run.duration for run in found.runs] == [2.848, 1024.5]
    assert found.runs[0].name == "triton_poi_fused_relu_0"
    assert found.runs[0].block == (128, 1, 1)
    assert found.runs[0].grid == (1024, 2, 1)


@pytest.mark.parametrize(
    ("unit", "value"), [("ns", "2,848"), ("nsecond", "2848"), ("usecond", "2.848"), ("us", "2.848")]
)
def test_the_raw_page_of_nsight_compute(unit: str, value: str, tmp_path: Path) -> None:
    """A row a kernel; the second row has the units."""
    path = tmp_path / "x.csv"
    path.write_text(
        f'{NCU_PREAMBLE}{NCU_COLUMNS},"dram__bytes.sum","gpu__time_duration.sum"\n'
        + ",".join(['""'] * 11 + ['"Mbyte"', f'"{unit}"'])
        + "\n"
        + _ncu_row(0, "1.05", value)
        + _ncu_row(1, "1.05", value)
    )

    assert [run.duration for run in read(path).runs] == pytest.approx([2.848, 2.848])


def test_a_report_behind_much_that_the_program_printed(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    header = f'{NCU_COLUMNS},"gpu__time_duration.sum"\n' + ",".join(['""'] * 11 + ['"ns"']) + "\n"
    path.write_text("step 1, loss 0.25\n" * 5_000 + header + _ncu_row(0, "2848"))

    assert [run.duration for run in read(path).runs] == [2.848]


def test_a_report_without_times_is_told(tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text(
        f'{NCU_COLUMNS},"dram__bytes.sum"\n' + ",".join(['""'] * 11 + ['"Mbyte"']) + "\n" + _ncu_row(0, "1")
    )

    with pytest.raises(ValueError, match="has no times"):
        read(path)
