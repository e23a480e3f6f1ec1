"""Probes of the scheduler's fusion: rounds, looks at pairs, refusals with their numbers.

May not know lowering or passes; changes no decision (`intervention` does).
"""
