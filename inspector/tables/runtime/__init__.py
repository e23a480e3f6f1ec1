"""Tables of what was seen when the program ran: profiles, measured launches, CUDA graphs, collectives.

May not know what the analyses read: a table puts their rows into cells and words.
"""
