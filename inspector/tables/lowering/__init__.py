"""Tables of nodes, and of how each of them became IR and buffers.

May not know what the analyses read: a table puts their rows into cells and words.
"""
