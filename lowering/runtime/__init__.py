"""Probes of what happens when the compiled code runs: CUDA graphs and collectives.

May not know lowering or the scheduler.
"""
