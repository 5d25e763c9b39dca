"""Names of authors and pseudonyms of reviewers: how the index has them, and how a search may spell them."""
