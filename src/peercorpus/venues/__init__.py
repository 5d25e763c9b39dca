"""What is known of venues before a harvest: deadlines, submission lists, visibility."""
