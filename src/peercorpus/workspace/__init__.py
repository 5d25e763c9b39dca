"""A workspace on disk: `raw.db`, files and tables, or their place in an object store."""
