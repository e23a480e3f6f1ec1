"""Why scheduler nodes are, or are not, in one kernel, what fusion saved, and what a missed pair still costs.

May not know profiles, other compiles or any view.
"""
