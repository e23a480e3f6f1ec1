"""Tables of what a check of numerics found: the errors of launches, and where NaN and Inf are made.

May not know how anything was checked.
"""
