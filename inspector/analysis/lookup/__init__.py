"""What a person's words mean: a graph, node, buffer, operation, kernel, hash, line, rank, reason.

Each module has the finders of one subject. A finder takes the dump, the words as they were typed and, where given, the
graph, and returns `Found | Ambiguous | Unknown`. May not know what is then shown of it, nor commands and their options:
`inspector/tables/lookup_text.py` puts the answers into words.
"""
