"""A dump as one HTML file: the same tables and diagrams as everywhere else, with sources beside kernels.

The file needs no server, no network and, for its text, no script. May not know torch or textual.
"""
