-- Schema version 2 of raw.db; like raw.sql it never changes any more.
-- Every column that nothing else covers lies in an index too, so that SQLite's integrity check finds one that changed.
CREATE INDEX IF NOT EXISTS objects_by_origin ON objects (seen_ms, api, subject_id, source);
CREATE INDEX IF NOT EXISTS listings_whole ON listings (after, received, expected, complete, started_ms);
CREATE INDEX IF NOT EXISTS queue_whole ON queue (venue_id, done, problem);
CREATE INDEX IF NOT EXISTS files_whole ON files (venue_id, forum_id, sha256, size_bytes, problem);
CREATE INDEX IF NOT EXISTS sightings_by_time ON sightings (shown_ms);
CREATE TABLE IF NOT EXISTS table_logs (
    table_name TEXT NOT NULL, file TEXT NOT NULL, digest BLOB NOT NULL, PRIMARY KEY (table_name, file)) WITHOUT ROWID;
-- The key of the pseudonyms once more, on a page of its own.
CREATE TABLE IF NOT EXISTS secret_copies (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
