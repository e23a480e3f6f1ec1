"""The table of lookups in torch's caches of compiled graphs.

May not know what the analyses read: a table puts their rows into cells and words.
"""
