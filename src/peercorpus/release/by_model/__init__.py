"""Questions to a model while a release is written: titles of turns, and labels of points that rules left open."""
