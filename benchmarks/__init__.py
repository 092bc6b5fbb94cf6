"""What the product costs, in time and memory; `make bench` runs all of it. Not tests: figures are noisy."""
