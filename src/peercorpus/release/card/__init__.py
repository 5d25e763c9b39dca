"""Write the dataset card and its metadata."""
