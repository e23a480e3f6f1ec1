"""What can be observed of a compile: frozen records, one file a stage. Knows nothing but msgspec."""
