-- Schema version 1 as found in a workspace of 0.1.0, which did not number it yet (PRAGMA user_version = 0).
CREATE TABLE objects (
    seen INTEGER PRIMARY KEY,
    kind TEXT NOT NULL, object_id TEXT NOT NULL, digest BLOB NOT NULL, api INTEGER NOT NULL,
    venue_id TEXT NOT NULL, forum_id TEXT NOT NULL, subject_id TEXT NOT NULL,
    modified_ms INTEGER NOT NULL, seen_ms INTEGER NOT NULL, source TEXT NOT NULL, body BLOB NOT NULL,
    UNIQUE (kind, object_id, digest));
CREATE INDEX objects_by_forum ON objects (venue_id, kind, forum_id, object_id, modified_ms, seen, digest);
CREATE INDEX published_by_subject ON objects (subject_id) WHERE kind = 'published';
CREATE TABLE listings (
    venue_id TEXT NOT NULL, listing TEXT NOT NULL, after TEXT, received INTEGER NOT NULL, expected INTEGER,
    complete INTEGER NOT NULL, started_ms INTEGER NOT NULL, PRIMARY KEY (venue_id, listing));
CREATE TABLE queue (
    venue_id TEXT NOT NULL, task TEXT NOT NULL, subject_id TEXT NOT NULL, done INTEGER NOT NULL DEFAULT 0,
    problem TEXT, PRIMARY KEY (task, subject_id));
CREATE TABLE files (
    edit_id TEXT NOT NULL, path TEXT NOT NULL, venue_id TEXT NOT NULL, forum_id TEXT NOT NULL,
    sha256 TEXT, size_bytes INTEGER, problem TEXT, PRIMARY KEY (edit_id, path));
CREATE TABLE sightings (object_id TEXT PRIMARY KEY, shown_ms INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE secrets (name TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE budget (
    route TEXT PRIMARY KEY, request_limit INTEGER, remaining INTEGER NOT NULL, ends_at REAL NOT NULL,
    seen_at REAL NOT NULL, length_s INTEGER);
