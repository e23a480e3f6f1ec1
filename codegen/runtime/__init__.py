"""Calls around the launches of the generated code, where a person asked for times or for a check of numerics.

May not know what torch measures to choose (`autotuning`).
"""
