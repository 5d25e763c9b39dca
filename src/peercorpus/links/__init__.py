"""Two records that are one work: the version the reviewers read and the last one, compared passage by passage."""
