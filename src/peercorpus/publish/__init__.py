"""Tables → a folder that `datasets.load_dataset` opens: Parquet by conference, and a card. Reads tables only."""
