"""A run in a terminal: asked, watched, decided about."""
