-- Keepsake, schema version 1. One file is one device.
--
-- Units: a timestamp (hlc) is 47 bits of milliseconds since 1970 << 16 | a 16-bit counter. A replica
-- ID is a random number of 62 bits. A local sequence number (lseq) counts what this file accepted,
-- from 1. Text compares by its UTF-8 bytes (BINARY). In parentheses: what writes the column.

PRAGMA application_id = 0x4B454550;  -- "KEEP"

-- The last write of every key, deletions in synced stores included.
CREATE TABLE entry (
  store  TEXT    NOT NULL,  -- 'cloud', 'cloud:<name>' sync; every other name stays (write; merge)
  key    TEXT    NOT NULL,  -- at least one byte (write; merge)
  tag    INTEGER NOT NULL,  -- 0 tombstone, 1 string, 2 integer, 3 real, 4 boolean, 5 date, 6 data,
                            -- 7 array, 8 dictionary; others belong to newer versions and are kept
                            -- (write; merge)
  value  ANY,               -- NULL for a tombstone; boolean 0/1; date in seconds since 2001; NaN as
                            -- text 'nan'; array and dictionary as canonical JSON text (write; merge)
  hlc    INTEGER NOT NULL,  -- timestamp of the write, given by its origin (write; merge)
  origin INTEGER NOT NULL,  -- replica ID of the device that wrote it (write; merge)
  lseq   INTEGER NOT NULL,  -- its local sequence number, never reused (write; merge)
  PRIMARY KEY (store, key)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX entry_lseq ON entry (lseq);

-- This device: one row.
CREATE TABLE replica (
  only       INTEGER PRIMARY KEY CHECK (only = 1),  -- keeps it at one row (creation)
  id         INTEGER NOT NULL,            -- replica ID (creation; rotation when a copy is found)
  hlc        INTEGER NOT NULL,            -- high-water mark of the clock; with the newest entry's, the
                                          -- larger counts (every transaction but a plain local set)
  lseq       INTEGER NOT NULL,            -- high-water mark of local sequence numbers (as hlc)
  gc_lseq    INTEGER NOT NULL DEFAULT 0,  -- the one up to which tombstones were collected (collection)
  min_writer INTEGER NOT NULL             -- oldest schema version that may still write (migrations)
) STRICT;

-- Replica IDs that this device had before a rotation.
CREATE TABLE superseded (
  id  INTEGER PRIMARY KEY,  -- the former replica ID (rotation)
  hlc INTEGER NOT NULL      -- the last timestamp given under it here (rotation)
) STRICT;

-- The devices that this one has synced with, per store, because a merge may be limited to some.
CREATE TABLE peer (
  peer       INTEGER NOT NULL,            -- the other device's replica ID (merge)
  store      TEXT    NOT NULL,            -- (merge)
  cursor     INTEGER NOT NULL DEFAULT 0,  -- its sequence number up to which this device has read (merge)
  acked      INTEGER NOT NULL DEFAULT 0,  -- the own one up to which the other device has read (merge)
  read_token INTEGER,                     -- token of the sync that last read from it (merge)
  token      INTEGER,                     -- token of the newest sync offered to it (merge)
  prior      INTEGER,                     -- token of the sync before that one (merge)
  their_read INTEGER,                     -- its read_token when that sync began (merge)
  last_met   INTEGER NOT NULL DEFAULT 0,  -- milliseconds since 1970 (merge)
  retired    INTEGER NOT NULL DEFAULT 0,  -- 1: no longer waited for by collection (retirement)
  PRIMARY KEY (peer, store)
) STRICT, WITHOUT ROWID;

-- Version vector: every write of `origin` in `store` up to `hlc` was seen here, or was beaten by one
-- that was. For conflicts and collection; it never filters a transfer.
CREATE TABLE seen (
  store  TEXT    NOT NULL,  -- (merge)
  origin INTEGER NOT NULL,  -- (merge)
  hlc    INTEGER NOT NULL,  -- (merge)
  PRIMARY KEY (store, origin)
) STRICT, WITHOUT ROWID;

-- Entries from the future: their timestamp is further ahead of this device's clock than allowed.
-- They are applied when they are due.
CREATE TABLE held (
  store   TEXT    NOT NULL,  -- as in entry (merge)
  key     TEXT    NOT NULL,  -- as in entry (merge)
  tag     INTEGER NOT NULL,  -- as in entry (merge)
  value   ANY,               -- as in entry (merge)
  hlc     INTEGER NOT NULL,  -- as in entry (merge)
  origin  INTEGER NOT NULL,  -- as in entry (merge)
  held_at INTEGER NOT NULL,  -- when it came, milliseconds since 1970 (merge)
  PRIMARY KEY (store, key, hlc, origin)
) STRICT, WITHOUT ROWID;

CREATE INDEX held_hlc ON held (hlc);

-- Writes that lost to one made without knowledge of them: a bounded log, local to this file.
CREATE TABLE conflict (
  id            INTEGER PRIMARY KEY AUTOINCREMENT,  -- names the conflict, never reused (merge)
  store         TEXT    NOT NULL,  -- as in entry (merge)
  key           TEXT    NOT NULL,  -- as in entry (merge)
  loser_tag     INTEGER NOT NULL,  -- the lost write: its type, 0 for a deletion (merge)
  loser_value   ANY,               -- its value, whole (merge)
  loser_hlc     INTEGER NOT NULL,  -- its timestamp (merge)
  loser_origin  INTEGER NOT NULL,  -- replica ID of the device that wrote it (merge)
  winner_tag    INTEGER NOT NULL,  -- the type of what won, 0 for a deletion (merge)
  winner_hlc    INTEGER NOT NULL,  -- its timestamp (merge)
  winner_origin INTEGER NOT NULL,  -- replica ID of the device that wrote it (merge)
  at            INTEGER NOT NULL,  -- when it was found, milliseconds since 1970 (merge)
  resolved      INTEGER NOT NULL DEFAULT 0,  -- 1 when the loser was restored, or an application has
                                             -- resolved it (resolution)
  receiver      INTEGER NOT NULL DEFAULT 0,  -- between which devices it went last, by the replica IDs
                                             -- that they had then: who took it over (handover)
  giver         INTEGER NOT NULL DEFAULT 0   -- whose log it came from, in the receiving one (handover)
) STRICT;

-- Finds a conflict of another log.
CREATE INDEX conflict_stamps ON conflict (loser_hlc, loser_origin, winner_hlc);

-- Finds what is not resolved, without the values that were lost.
CREATE INDEX conflict_resolved ON conflict (resolved, store);

-- Replica IDs that were given up because their clock had run ahead. Their writes of later than `hlc`
-- count as made then, and those that are held never come in. Travels with every merge; of two limits
-- for one replica ID the smaller holds.
CREATE TABLE void (
  origin INTEGER PRIMARY KEY,  -- the replica ID that was given up (repair of the clock; merge)
  hlc    INTEGER NOT NULL      -- the last timestamp of it that stands (repair of the clock; merge)
) STRICT;

-- Deletions whose tombstone was collected. One counts like its tombstone: an entry that comes in
-- for a key without one has to beat it, and a reader that still has what it deleted gets it. Bounded
-- by age and number.
CREATE TABLE grave (
  store  TEXT    NOT NULL,  -- as in entry (collection)
  key    TEXT    NOT NULL,  -- as in entry (collection)
  hlc    INTEGER NOT NULL,  -- as in entry (collection)
  origin INTEGER NOT NULL,  -- as in entry (collection)
  lseq   INTEGER NOT NULL,  -- as in entry; a newer one when a device has to read it again
                            -- (collection; merge)
  PRIMARY KEY (store, key)
) STRICT, WITHOUT ROWID;

-- How far deletions were forgotten without a trace; at most one row.
CREATE TABLE forgotten (
  only INTEGER PRIMARY KEY CHECK (only = 1),  -- keeps it at one row (collection)
  lseq INTEGER NOT NULL                       -- the last local sequence number of such a tombstone
                                              -- (collection)
) STRICT;

-- Entries that a hub has passed and does not have: it takes none so large, or no message can carry
-- them. One that was written again has another local sequence number, and is none of them any more.
CREATE TABLE unsent (
  lseq INTEGER NOT NULL,  -- as in entry (merge)
  hub  INTEGER NOT NULL,  -- the hub's replica ID (merge)
  PRIMARY KEY (lseq, hub)
) STRICT, WITHOUT ROWID;

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
