"""Why two compiles differ: for each difference the earliest level at which they part, and its cost.

May not know how two dumps came to be; nothing here is told from names or positions alone.
"""
