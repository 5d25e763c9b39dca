"""PDF → Markdown: the engine contract, the default engine, and the stage that survives any PDF."""
