"""A workspace on disk: `raw.db`, files and tables, or their location in an object store."""
