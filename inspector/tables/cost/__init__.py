"""Tables of FLOPs and bytes, and of each launch against the roof of its device.

May not know what the analyses read: a table puts their rows into cells and words.
"""
