"""The ledger against torch's own TORCH_LOGS=fusion of another run, and against the generated code."""

import pytest

from inspect_compile.dump import open_dump
from tests.conftest import DumpOf, PlainOf
from tests.ledgers import check_ledgers, logged, recorded


@pytest.mark.parametrize("sample", ["softmax_mlp", "attention_block", "training_step", "conditional"])
def test_the_ledger_is_what_torch_logs(dump_of: DumpOf, plain_of: PlainOf, sample: str) -> None:
    dump = open_dump(dump_of(sample).dump)

    assert recorded(dump) == logged(plain_of(sample).log)
    check_ledgers(dump)
