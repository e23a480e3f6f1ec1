"""What a person sees first: the run on one screen, its graphs, its remarks, and one node on one page.

May not know what the analyses read: a table puts their rows into cells and words.
"""
