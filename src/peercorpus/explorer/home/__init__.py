"""The home page of the explorer: the contents of the corpus, in numbers and in figures that lead to their papers."""
