"""Find formulas on a page and write them as LaTeX."""
