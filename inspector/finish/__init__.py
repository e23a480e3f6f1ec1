"""The derived files of a dump, made once the facts are all there."""
