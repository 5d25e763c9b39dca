"""The home page of the explorer: what the corpus holds, in numbers and in figures that lead to their papers."""
