"""What the product costs and how long it takes, measured on real processes. `python -m benchmarks` lists everything."""
