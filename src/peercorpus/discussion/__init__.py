"""Read a discussion without its forms: who is addressed, which posts belong together, what the decision ends."""
