"""Tables of what happened in front of Inductor: frames, guards, the call path, and the time of compiling.

May not know what the analyses read: a table puts their rows into cells and words.
"""
