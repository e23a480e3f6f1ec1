"""Our tables against what torch itself logs, writes and counts."""
