"""Text as people read it: counts with their nouns, suggestions for unknown names, nothing unsafe or personal."""
