"""What torch's caches make their keys of. Data with sources; may not know any compile."""
