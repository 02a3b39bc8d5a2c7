-- Keepsake, schema version 1. One file is one device.
--
-- Units: a stamp (hlc) is 47 bits of milliseconds since 1970 << 16 | a 16-bit counter. An identity is
-- a random number of 62 bits. An arrival number (lseq) counts what this file accepted, from 1.
-- Text compares by its UTF-8 bytes (BINARY). "Door" is the one set of statements that writes entries.

PRAGMA application_id = 0x4B454550;  -- "KEEP"

-- The last write of every key, deletions in synced stores included.
CREATE TABLE entry (
  store  TEXT    NOT NULL,  -- 'cloud', 'cloud:<name>' travel; every other name stays (door)
  key    TEXT    NOT NULL,  -- at least one byte (door)
  tag    INTEGER NOT NULL,  -- 0 tombstone, 1 string, 2 integer, 3 real, 4 boolean, 5 date, 6 data,
                            -- 7 array, 8 dictionary; others belong to newer versions and are kept (door)
  value  ANY,               -- NULL for a tombstone; boolean 0/1; date in seconds since 2001; NaN as
                            -- text 'nan'; array and dictionary as canonical JSON text (door)
  hlc    INTEGER NOT NULL,  -- stamp of the write, minted by its origin (door)
  origin INTEGER NOT NULL,  -- identity of the device that wrote it (door)
  lseq   INTEGER NOT NULL,  -- arrival number in this file, never reused (door)
  PRIMARY KEY (store, key)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX entry_lseq ON entry (lseq);

-- This device: one row.
CREATE TABLE replica (
  only       INTEGER PRIMARY KEY CHECK (only = 1),  -- keeps it at one row (creation)
  id         INTEGER NOT NULL,            -- identity (creation; rotation when a copy is found)
  epoch      INTEGER NOT NULL,            -- how often the identity was rotated, from 0 (rotation)
  hlc        INTEGER NOT NULL,            -- high-water mark of the clock; with the newest entry's, the
                                          -- larger counts (every transaction but a plain local set)
  lseq       INTEGER NOT NULL,            -- high-water mark of arrival numbers (as hlc)
  gc_floor   INTEGER NOT NULL DEFAULT 0,  -- stamp up to which tombstones were collected (collection)
  gc_lseq    INTEGER NOT NULL DEFAULT 0,  -- arrival number up to which they were collected (collection)
  min_writer INTEGER NOT NULL             -- oldest schema version that may still write (migrations)
) STRICT;

-- Identities that this device had before a rotation.
CREATE TABLE superseded (
  id  INTEGER PRIMARY KEY,  -- the former identity (rotation)
  hlc INTEGER NOT NULL      -- the last stamp minted under it here (rotation)
) STRICT;

-- Whom this device has met, per store, because a meeting may be limited to some stores.
CREATE TABLE peer (
  peer       INTEGER NOT NULL,            -- the other device's identity (meeting)
  store      TEXT    NOT NULL,            -- (meeting)
  cursor     INTEGER NOT NULL DEFAULT 0,  -- their arrival number up to which I have read (meeting)
  acked      INTEGER NOT NULL DEFAULT 0,  -- my arrival number up to which they have read (meeting)
  read_token INTEGER,                     -- token of the meeting in which I last read from them (meeting)
  token      INTEGER,                     -- token of the newest meeting offered to them (meeting)
  prior      INTEGER,                     -- token of the meeting before that one (meeting)
  their_read INTEGER,                     -- their read_token when that meeting began (meeting)
  last_met   INTEGER NOT NULL DEFAULT 0,  -- milliseconds since 1970 (meeting)
  retired    INTEGER NOT NULL DEFAULT 0,  -- 1: no longer waited for by collection (retirement)
  PRIMARY KEY (peer, store)
) STRICT, WITHOUT ROWID;

-- Version vector: every write of `origin` in `store` up to `hlc` was seen here, or was beaten by one
-- that was. For conflicts and collection; it never filters a transfer.
CREATE TABLE seen (
  store  TEXT    NOT NULL,  -- (meeting)
  origin INTEGER NOT NULL,  -- (meeting)
  hlc    INTEGER NOT NULL,  -- (meeting)
  PRIMARY KEY (store, origin)
) STRICT, WITHOUT ROWID;

-- Entries from the future: stamped further ahead of this device's clock than allowed. They are
-- promoted through the door when due.
CREATE TABLE held (
  store   TEXT    NOT NULL,  -- as in entry (meeting)
  key     TEXT    NOT NULL,  -- as in entry (meeting)
  tag     INTEGER NOT NULL,  -- as in entry (meeting)
  value   ANY,               -- as in entry (meeting)
  hlc     INTEGER NOT NULL,  -- as in entry (meeting)
  origin  INTEGER NOT NULL,  -- as in entry (meeting)
  held_at INTEGER NOT NULL,  -- when it came, milliseconds since 1970 (meeting)
  PRIMARY KEY (store, key, hlc, origin)
) STRICT, WITHOUT ROWID;

CREATE INDEX held_hlc ON held (hlc);

-- Writes that lost to one made without knowledge of them: a bounded ring, local to this file.
CREATE TABLE conflict (
  id            INTEGER PRIMARY KEY AUTOINCREMENT,  -- names the conflict, never reused (meeting)
  store         TEXT    NOT NULL,  -- as in entry (meeting)
  key           TEXT    NOT NULL,  -- as in entry (meeting)
  loser_tag     INTEGER NOT NULL,  -- the lost write: its type, 0 for a deletion (meeting)
  loser_value   ANY,               -- its value, whole (meeting)
  loser_hlc     INTEGER NOT NULL,  -- its stamp (meeting)
  loser_origin  INTEGER NOT NULL,  -- the identity of the device that wrote it (meeting)
  winner_tag    INTEGER NOT NULL,  -- the type of what won, 0 for a deletion (meeting)
  winner_hlc    INTEGER NOT NULL,  -- its stamp (meeting)
  winner_origin INTEGER NOT NULL,  -- the identity of the device that wrote it (meeting)
  at            INTEGER NOT NULL   -- when it was found, milliseconds since 1970 (meeting)
) STRICT;

-- Defaults from Settings bundles. Never an entry, never synced.
CREATE TABLE default_value (
  store  TEXT    NOT NULL,  -- (seeding)
  bundle TEXT    NOT NULL,  -- which bundle declares it; seeding it again replaces all its rows (seeding)
  key    TEXT    NOT NULL,  -- (seeding)
  tag    INTEGER NOT NULL,  -- as in entry, never 0 (seeding)
  value  ANY     NOT NULL,  -- as in entry (seeding)
  source TEXT    NOT NULL,  -- where it is declared: Root.plist:214 (seeding)
  seq    INTEGER NOT NULL,  -- counts seedings from 1: of several bundles with one key the last seeded
                            -- one counts (seeding)
  PRIMARY KEY (store, bundle, key)
) STRICT, WITHOUT ROWID;
