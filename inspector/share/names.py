"""Which names identify a person, and which are words that occur in any dump."""

import builtins
import keyword
from typing import Final

SHORTEST: Final = 3
"""Minimum length in characters: a shorter name occurs in every text."""

_ACCOUNTS: Final = (
    "admin administrator anonymous app apps build builder circleci codespace conda coder daemon default dev developer "
    "docker ec2 gitpod guest jenkins jovyan kaggle linuxbrew localhost localdomain main mambauser node nobody public "
    "root runner shared spack test tester travis ubuntu user username users vagrant vscode worker workspace www"
)
_TRADE: Final = (
    "aot arch argument aten auto autotune backward batch benchmark bfloat16 block bool buffer buffers cache channels "
    "code compile compiled conv cpp cpu cuda cwd data default device dim dir dot double dtype dynamic dynamo eager "
    "email emb env extern file float forward func fused fusion generated git gpu grad graph group half head hidden "
    "home host index inductor inference inf inline input inputs int kernel kernels layer layout line linear log loop "
    "lower lowering mask matmul mean mod model module mps name nan net node nodes none norm num numel off op ops opt "
    "output outputs pad pass path permute pid pointwise proc program ptr ptx python read reduce redacted reduction "
    "relu reshape rms rocm run schedule scheduler script shape share shared site size softmax source square src "
    "stride tensor tmp token torch torchinductor train training transpose triton txt typing url usr value values var "
    "view weight weights with work world wrapper write xpu"
)

_ORDINARY: Final = frozenset((*_ACCOUNTS.split(), *_TRADE.split(), *map(str.lower, dir(builtins)), *keyword.kwlist))


def is_ordinary(name: str, vocabulary: frozenset[str]) -> bool:
    """True if removing `name` everywhere would hide nothing, and damage what the compiler said.

    `vocabulary` are the words in the names of the dump's own operators.
    """
    lower = name.lower()
    return len(name) < SHORTEST or lower.isdigit() or lower in _ORDINARY or lower in vocabulary
