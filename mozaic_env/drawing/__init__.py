"""Pictures as data, and what paints them: SVG, pixels, films."""
