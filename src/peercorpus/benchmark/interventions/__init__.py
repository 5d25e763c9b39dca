"""Ask about papers in which one place was changed by a rule, and about the same papers unchanged."""
