"""Find every version of a submission's PDF, and the one that the reviewers read."""
