"""OpenReview's two APIs: objects, client, rate limits, sign-in."""
