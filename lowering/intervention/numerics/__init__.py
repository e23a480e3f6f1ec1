"""Checks calls of compiled graphs launch by launch against their FX graphs, in the graphs' dtypes and in fp64.

May not know how calls are put around launches: that is `codegen.runtime.checked`, which is handed the check.
"""
