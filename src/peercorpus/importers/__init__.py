"""Import other people's files into `raw.db`: dumps of OpenReview's notes, published datasets, and folders of PDFs."""
