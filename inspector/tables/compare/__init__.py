"""Tables of two or more compiles: ranks, replays, other settings.

May not know what the analyses read: a table puts their rows into cells and words.
"""
