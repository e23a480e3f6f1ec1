"""Which tests `make test` leaves out, and `make test-all` runs: the files that take longest."""

from typing import Final

SLOW: Final = frozenset(
    {
        "analysis/memory/test_plan.py",
        "analysis/provenance/test_lineage.py",
        "child/test_capture.py",
        "child/test_processes.py",
        "codegen/kernels/test_long_names.py",
        "codegen/kernels/test_stages.py",
        "codegen/runtime/test_measure.py",
        "commands/test_replay.py",
        "commands/test_replay_models.py",
        "harmless/test_faults.py",
        "harmless/test_models.py",
        "harmless/test_programs.py",
        "hostile/test_fuzz.py",
        "hostile/test_screen.py",
        "hostile/test_shapes.py",
        "hostile/test_sizes.py",
        "lowering/frontend/test_dynamo.py",
        "lowering/intervention/test_attention.py",
        "lowering/intervention/test_numerics.py",
        "lowering/ir/test_decisions.py",
        "lowering/ir/test_texts.py",
        "lowering/passes/test_inherited.py",
        "lowering/passes/test_passes.py",
        "lowering/test_nothing_lives_longer.py",
        "lowering/test_returned_again.py",
        "targets/test_lacking.py",
        "targets/test_own_operators.py",
        "targets/test_stays_on_cpu.py",
        "targets/test_strides.py",
        "witness/test_flops.py",
        "witness/test_fusion.py",
        "witness/test_same_code.py",
    }
)
"""Relative to tests/: each takes more than about 15 s on two cores; together two thirds of the time of all."""
