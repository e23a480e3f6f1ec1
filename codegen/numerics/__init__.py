"""The statements of C++ kernels under a check of numerics: what each is to compute, and what it does compute.

Not probes: loaded only by the command that checks numerics. May not know how a value is judged.
"""
