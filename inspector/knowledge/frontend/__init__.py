"""A program's files, Dynamo's guards and torch's own timers. Data with sources; may not know any compile."""
