"""When a numerical difference is rounding, and when it is a mistake.

May not know where the numbers come from.
"""
