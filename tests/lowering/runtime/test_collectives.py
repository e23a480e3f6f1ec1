"""The collectives of a rank, by torch's flight recorder: what ran, how much, from where, and what called it."""

from typing import Any

from inspect_compile.facts import Collective
from inspect_compile.lowering.runtime.collectives import summed

TORCH = "/usr/lib/python3/site-packages/torch"
SCRIPT = ("step", "/home/user/train.py", 12)
DDP_INIT = [("__init__", f"{TORCH}/nn/parallel/distributed.py", 881), SCRIPT]
FSDP2 = [
    ("all_gather_into_tensor", f"{TORCH}/distributed/distributed_c10d.py", 4186),
    ("wrapper", f"{TORCH}/distributed/c10d_logger.py", 83),
    ("foreach_all_gather", f"{TORCH}/distributed/fsdp/_fully_shard/_fsdp_collectives.py", 276),
    ("unshard", f"{TORCH}/distributed/fsdp/_fully_shard/_fsdp_param_group.py", 339),
    ("pre_backward", f"{TORCH}/distributed/fsdp/_fully_shard/_fsdp_param_group.py", 494),
    ("_pre_backward", f"{TORCH}/distributed/fsdp/_fully_shard/_fsdp_state.py", 307),
]
DIRECT = [
    ("all_reduce", f"{TORCH}/distributed/distributed_c10d.py", 3245),
    ("wrapper", f"{TORCH}/distributed/c10d_logger.py", 83),
    SCRIPT,
]
COMPILED = [
    ("call", "/tmp/cache/ab/cab.py", 80),
    ("__call__", f"{TORCH}/_inductor/output_code.py", 638),
    SCRIPT,
]


def _entry(number: int, op: str, given: int, back: int, stack: list[tuple[str, str, int]], **more: Any) -> Any:
    """As `_dump_nccl_trace` of torch 2.11 had it on an H200."""
    return {
        "record_id": number,
        "process_group": ("0", "default_pg"),
        "thread_name": "python",
        "profiling_name": f"nccl:{op}",
        "input_sizes": [[given]],
        "input_dtypes": ["Float"],
        "output_sizes": [[back]],
        "output_dtypes": ["Float"],
        "frames": [{"name": name, "filename": file, "line": line} for name, file, line in stack],
        **more,
    }


def _told(rows: list[Collective]) -> list[tuple[str, str, str, int, int, int | None]]:
    return [
        (row.op, row.by, row.hook, row.count, row.bytes, row.where.line if row.where is not None else None)
        for row in rows
    ]


def test_what_called_them() -> None:
    on_autograd = {"thread_name": "pt_autograd_0"}
    rows = summed(
        [
            _entry(7, "broadcast", 100, 100, DDP_INIT),
            _entry(8, "all_reduce", 50, 50, [], **on_autograd),
            _entry(9, "all_reduce", 70, 70, [], **on_autograd),
            _entry(10, "_all_gather_base", 10, 20, FSDP2, **on_autograd),
            _entry(11, "_reduce_scatter_base", 20, 10, FSDP2[1:], **on_autograd),
            _entry(12, "all_reduce", 1, 1, DIRECT),
            _entry(13, "all_reduce", 8, 8, COMPILED),
        ]
    )

    assert _told(rows) == [
        ("broadcast", "DistributedDataParallel", "__init__", 1, 400, 12),
        ("all_reduce", "DistributedDataParallel", "reducer", 2, 480, None),
        ("all_gather", "FSDP2", "pre_backward", 1, 80, None),
        ("reduce_scatter", "FSDP2", "pre_backward", 1, 80, None),
        ("all_reduce", "program", "all_reduce", 1, 4, 12),
        ("all_reduce", "compiled graph", "", 1, 32, 12),
    ]
    assert {row.before for row in rows} == {7}  # torch keeps the last ones only
    assert [row.op for row in rows if row.is_compiled] == ["all_reduce"]


def test_who_called_from_cpp_is_told_only_where_it_is_known() -> None:
    """Nothing of DistributedDataParallel's is seen: something else of C++ may have called."""
    (row,) = summed([_entry(0, "all_reduce", 50, 50, [], thread_name="pt_autograd_0")])
    assert (row.by, row.hook, row.where) == ("unknown", "", None)
    assert summed([]) == []
