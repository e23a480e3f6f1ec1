"""The fusion ledger: what became of each pair of scheduler nodes in each round.

May not know what a missed pair costs: that is for the analyses.
"""
