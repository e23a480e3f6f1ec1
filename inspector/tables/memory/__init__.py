"""Tables of the memory that a graph holds, and the words for a memory plan.

May not know what the analyses read: a table puts their rows into cells and words.
"""
