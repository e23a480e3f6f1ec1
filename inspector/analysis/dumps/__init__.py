"""What a dump holds, apart from any subject: graphs, processes, symbols and hooks, and why it has no graph.

May not know any other room of the analyses; all of them may use it.
"""
