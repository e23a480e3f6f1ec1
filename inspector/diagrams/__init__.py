"""Facts to DOT and SVG."""
