"""How FLOPs and scalar operations are counted. Data with sources; may not know any compile."""
