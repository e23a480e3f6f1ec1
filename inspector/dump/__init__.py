"""The dump directory: writes and reads facts, nothing derived."""
