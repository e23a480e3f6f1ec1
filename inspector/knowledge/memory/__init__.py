"""Why values are saved, and what libraries allocate. Data with sources; may not know any compile."""
