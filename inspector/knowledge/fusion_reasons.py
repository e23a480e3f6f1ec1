"""Reason codes of refused fusions: short names for torch's own words, so that rows can be grouped and compared."""

import re
from typing import Final

KNOWN: Final[dict[str, str]] = {
    "intermediate nodes between node1 & node2": "intermediate-nodes",
    "memory deps did not match": "memory-deps-mismatch",
    "no shared data": "no-shared-data",
    "no shared data due to indexing mismatch": "indexing-mismatch",
    "numel/rnumel mismatch (reduce) (%s, %s), (%s, %s)": "numel-mismatch",
    "numel/rnumel mismatch (non-reduce) (%s, %s), (%s, %s)": "numel-mismatch",
    "node1 and node2 have the same ancestor": "too-far-apart",
    "device mismatch (%s vs %s)": "device-mismatch",
    "node1 is extern or nop": "extern-or-nop",
    "node2 is extern or nop": "extern-or-nop",
    "will create cycle": "would-make-a-cycle",
    "exceeds max fusion": "too-many-nodes",
    "score threshold": "below-score-threshold",
    "Nodes are too far away. Fusing them may increase peak memory.": "too-far-apart",
    "fusion will increase peak memory": "more-peak-memory",
}
"""torch's template, its start is enough → code."""


def code_of(template: str) -> str:
    """The code of torch's reason `template`; for one that we don't know a slug of its words."""
    for known, code in KNOWN.items():
        if template == known:
            return code
    words = re.sub(r"%\w|\{[^}]*\}|[^a-z0-9]+", "-", template.lower())
    return re.sub(r"-+", "-", words).strip("-")[:48] or "unknown"
