"""What is still missing, fetched and committed bit by bit; recorded dumps taken in."""
