"""What a check of numerics found, with verdicts.

May not know how values were computed or compared: the facts have the numbers.
"""
