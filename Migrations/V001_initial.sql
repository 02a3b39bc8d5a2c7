-- Keepsake, schema version 1. One file is one device.
--
-- Units: a timestamp is that of a hybrid logical clock: 47 bits of milliseconds since 1970 << 16 | a
-- 16-bit counter. A replica ID is a random number of 62 bits. A sequence number counts the changes of
-- this file, from 1. Text compares by its UTF-8 bytes (BINARY). In parentheses: what writes the
-- column.

PRAGMA application_id = 0x4B454550;  -- "KEEP"

-- The last write of every key, deletions in synced stores included.
CREATE TABLE entry (
  store           TEXT    NOT NULL,  -- 'cloud', 'cloud:<name>' sync; others never leave the file
                                     -- unless a merge names them (write; merge)
  key             TEXT    NOT NULL,  -- at least one byte (write; merge)
  type            INTEGER NOT NULL,  -- 0 tombstone, 1 string, 2 integer, 3 real, 4 boolean, 5 date,
                                     -- 6 data, 7 array, 8 dictionary; others belong to newer versions
                                     -- and are kept (write; merge)
  value           ANY,               -- NULL for a tombstone; boolean 0/1; date in seconds since 2001;
                                     -- NaN as text 'nan'; array and dictionary as canonical JSON text
                                     -- (write; merge)
  timestamp       INTEGER NOT NULL,  -- of the write, by the clock of the file that wrote it (write;
                                     -- merge; repair of the clock)
  replica_id      INTEGER NOT NULL,  -- of the file that wrote it (write; merge; rotation; repair)
  sequence_number INTEGER NOT NULL,  -- of its last change here, never reused (write; merge; rotation;
                                     -- repair)
  PRIMARY KEY (store, key)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX entry_sequence ON entry (sequence_number);

-- This file: one row.
CREATE TABLE replica (
  only            INTEGER PRIMARY KEY CHECK (only = 1),  -- keeps it at one row (creation)
  id              INTEGER NOT NULL,            -- replica ID (creation; rotation; repair of the clock)
  timestamp       INTEGER NOT NULL,            -- high-water mark of the clock; with the newest entry's,
                                               -- the larger counts (every transaction but a plain
                                               -- local set)
  sequence_number INTEGER NOT NULL,            -- high-water mark of sequence numbers (as timestamp)
  trimmed         INTEGER NOT NULL DEFAULT 0,  -- the highest number of a mark that was dropped (merge)
  min_writer      INTEGER NOT NULL             -- oldest schema version that may still write
                                               -- (migrations)
) STRICT;

-- Replica IDs that this file had before.
CREATE TABLE former_replica (
  id        INTEGER PRIMARY KEY,  -- the former replica ID (rotation; repair of the clock)
  timestamp INTEGER NOT NULL,     -- of the clock when the ID was given up (as id)
  reason    TEXT    NOT NULL,     -- why: 'clone', 'restore', 'recovery', 'copy', 'clock',
                                  -- 'account' (as id)
  ended_at  INTEGER NOT NULL      -- milliseconds since 1970 (as id)
) STRICT;

-- Points in this file's history. Others note them as their cursors.
CREATE TABLE mark (
  sequence_number INTEGER PRIMARY KEY,  -- the newest one of a synced store at that point (merge)
  timestamp       INTEGER NOT NULL,     -- of the clock (merge; cut by a repair of the clock)
  bits            INTEGER NOT NULL      -- 62 random bits: with the number they identify the mark (merge)
) STRICT;

-- What this file knows of others, per store.
CREATE TABLE peer (
  replica_id       INTEGER NOT NULL,            -- of the other file (merge)
  store            TEXT    NOT NULL,            -- (merge)
  cursor_number    INTEGER NOT NULL DEFAULT 0,  -- of the mark up to which this file has read the
                                                -- other, 0 for the beginning: its number (merge)
  cursor_timestamp INTEGER NOT NULL DEFAULT 0,  -- its clock (merge)
  cursor_bits      INTEGER NOT NULL DEFAULT 0,  -- its bits (merge)
  own_number       INTEGER NOT NULL DEFAULT 0,  -- of this file's newest mark at the last sync both
                                                -- ways: its number (merge)
  own_timestamp    INTEGER NOT NULL DEFAULT 0,  -- its clock (merge; cut by a repair of the clock)
  own_bits         INTEGER NOT NULL DEFAULT 0,  -- its bits (merge)
  synced_at        INTEGER NOT NULL DEFAULT 0,  -- of the last sync both ways, milliseconds since 1970;
                                                -- to the day if nothing was new (merge)
  PRIMARY KEY (replica_id, store)
) STRICT, WITHOUT ROWID;

-- What this file knows of the accounts of hubs that it syncs with.
CREATE TABLE hub (
  account        INTEGER PRIMARY KEY,         -- its ID (sync with a hub)
  read_mark      TEXT    NOT NULL,            -- the hub's mark up to which this file has read it, as
                                              -- the hub wrote it (sync with a hub)
  newest_mark    TEXT    NOT NULL,            -- the newest one that the hub has told, which it has to
                                              -- know still: else it was set back (sync with a hub)
  sent_number    INTEGER NOT NULL,            -- of this file's mark up to which the hub has all rows,
                                              -- or rows that win over them, but for those in
                                              -- hub_held: its number (sync with a hub)
  sent_timestamp INTEGER NOT NULL,            -- its clock (sync with a hub; cut by a repair)
  sent_bits      INTEGER NOT NULL,            -- its bits (sync with a hub)
  synced_at      INTEGER NOT NULL DEFAULT 0   -- of the last sync, milliseconds since 1970; to the day
                                              -- if nothing was new (sync with a hub)
) STRICT;

-- Entries that were held back from a hub, because they are from its future, or too large for it.
CREATE TABLE hub_held (
  account         INTEGER NOT NULL,  -- (sync with a hub)
  sequence_number INTEGER NOT NULL,  -- of an entry; of none if the entry has changed since (sync with
                                     -- a hub)
  PRIMARY KEY (account, sequence_number)
) STRICT, WITHOUT ROWID;

-- Version vectors: every write of `replica_id` in `store` up to `timestamp` was read here, or lost to
-- something that was read. For conflicts alone; they never decide what is read.
CREATE TABLE seen (
  store      TEXT    NOT NULL,  -- (merge; rotation)
  replica_id INTEGER NOT NULL,  -- (merge; rotation)
  timestamp  INTEGER NOT NULL,  -- (merge; rotation; cut by a repair of the clock)
  PRIMARY KEY (store, replica_id)
) STRICT, WITHOUT ROWID;

-- How far deletions were forgotten.
CREATE TABLE forgotten (
  store           TEXT    NOT NULL PRIMARY KEY,  -- (compaction)
  sequence_number INTEGER NOT NULL               -- the highest one of a tombstone that was dropped
                                                 -- (compaction)
) STRICT, WITHOUT ROWID;

-- Writes that lost to one made without knowledge of them: a bounded log, local to this file.
CREATE TABLE conflict (
  id                INTEGER PRIMARY KEY AUTOINCREMENT,  -- names the conflict, never reused (merge)
  store             TEXT    NOT NULL,  -- as in entry (merge)
  key               TEXT    NOT NULL,  -- as in entry (merge)
  lost_type         INTEGER NOT NULL,  -- of the write that lost, 0 for a deletion (merge)
  lost_value        ANY,               -- its value, whole (merge)
  lost_timestamp    INTEGER NOT NULL,  -- (merge)
  lost_replica_id   INTEGER NOT NULL,  -- (merge)
  winner_type       INTEGER NOT NULL,  -- of the write that won, 0 for a deletion (merge)
  winner_timestamp  INTEGER NOT NULL,  -- (merge)
  winner_replica_id INTEGER NOT NULL,  -- (merge)
  found_at          INTEGER NOT NULL,  -- milliseconds since 1970 (merge)
  is_resolved       INTEGER NOT NULL DEFAULT 0  -- 1 if the lost value was restored, or an application
                                                -- has resolved the conflict (resolution)
) STRICT;

-- A page that is read again logs nothing twice.
CREATE UNIQUE INDEX conflict_lost ON conflict (store, key, lost_timestamp, lost_replica_id);

-- Finds open conflicts without the values that were lost.
CREATE INDEX conflict_resolved ON conflict (is_resolved, store);

-- Defaults from Settings bundles. Never an entry, never synced.
CREATE TABLE default_value (
  store   TEXT    NOT NULL,  -- (seeding)
  bundle  TEXT    NOT NULL,  -- which bundle declares it; seeding it again replaces all its rows (seeding)
  key     TEXT    NOT NULL,  -- (seeding)
  type    INTEGER NOT NULL,  -- as in entry, never 0 (seeding)
  value   ANY     NOT NULL,  -- as in entry (seeding)
  source  TEXT    NOT NULL,  -- where it is declared: Root.plist:214 (seeding)
  seeding INTEGER NOT NULL,  -- counts seedings from 1: of several bundles with one key the last seeded
                             -- one counts (seeding)
  PRIMARY KEY (store, bundle, key)
) STRICT, WITHOUT ROWID;
