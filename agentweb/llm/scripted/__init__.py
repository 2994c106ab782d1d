"""A model that follows a script: no key, no network, and not an AI. It drives the real loop through real tools."""
