"""Read the tables back: by forum, by filter, and without what is hidden or taken down."""
