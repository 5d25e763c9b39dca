"""Models that were trained to review in a format of their own: how each is asked, and how its answer becomes ours."""
