"""Review forms as data: OpenReview's notes, whatever form they were written in, as papers, reviews and posts."""
