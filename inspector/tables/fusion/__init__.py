"""Tables and stories of fusion: attempts, the way of a pair, and the fusion that a bisection found.

May not know what the analyses read: a table puts their rows into cells and words.
"""
