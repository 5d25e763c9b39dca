"""What the page of a paper does for its readers: it folds what is long and cites single turns."""
