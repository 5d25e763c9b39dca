"""Facts about venues that are known before a harvest: deadlines, submission lists, visibility."""
