"""Why Inductor makes values real and chooses layouts. Data with sources; may not know any compile."""
