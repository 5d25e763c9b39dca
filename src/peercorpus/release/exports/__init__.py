"""Write a release in the file layouts of training libraries."""
