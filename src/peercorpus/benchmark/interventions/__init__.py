"""Compare answers about papers in which a rule changed one place with answers about the unchanged papers."""
