"""What `draw` draws beside schedules, and the list of what can be drawn. May not know another command."""
