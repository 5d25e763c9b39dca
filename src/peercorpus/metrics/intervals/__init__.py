"""95 % intervals of shares, means and other numbers over papers, and of differences of two runs."""
