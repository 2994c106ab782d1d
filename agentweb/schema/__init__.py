"""JSON and JSON Schema without a framework: checking, filling, forms, differences and safe text."""
