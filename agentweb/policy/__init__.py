"""Policies without a framework: from rules and the facts of one call to a verdict that says which rule made it."""
