"""Pure functions over facts. Knows neither torch nor any view."""
