"""Which of the settings that differ decides about one difference, as far as their names tell."""

import re
from typing import Final

from inspect_compile.analysis.compare.causes.finding import Finding
from inspect_compile.knowledge.fusion.reasons import by_code

_DECIDES: Final = {
    "partition": re.compile(r"activation_memory|min_cut|recompute|partition"),
    "realize": re.compile(r"^realize_|accumulated_pool"),
    "autotune": re.compile(r"autotun|coordinate_descent|max_autotune"),
    "tiling": re.compile(r"simdlen|tile|tiling|persistent|cooperative|multi_kernel|threads|num_stages|num_warps"),
}
"""Level → names of settings that decide there and nowhere before."""


def decides(finding: Finding, setting: str) -> bool:
    """Does this setting, `max_fusion_size: default → 1`, decide about what was found?"""
    name = setting.partition(": ")[0]
    if finding.level == "fusion":
        reason = by_code(finding.what)
        return name in (finding.what, reason.knob if reason is not None else "")
    if finding.level == "pass":
        return name.rpartition(".")[2] == finding.what
    pattern = _DECIDES.get(finding.level)
    return pattern is not None and pattern.search(name) is not None
