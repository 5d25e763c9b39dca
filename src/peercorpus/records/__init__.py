"""Record types of the corpus's rows and pure functions on them, without disk or network."""
