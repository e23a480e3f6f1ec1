"""Times of the launches of the generated code, taken where a person asked for them.

May not know what torch measures to choose (`autotuning`).
"""
