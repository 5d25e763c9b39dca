"""What a model is asked while a release is written: titles of turns, and what rules left open of points."""
