"""What a row of the corpus is: record types and pure functions over them, without disk or network."""
