-- Keepsake, schema version 3: a collected deletion is still known.
-- Units are those of version 1. Older versions may no longer write: their collection leaves no
-- grave, and their merges let in what a grave says was deleted.

-- Deletions whose tombstone was collected. One counts like its tombstone: an entry that comes in
-- for a key without one has to beat it, and a reader that still has what it deleted is told. Bounded
-- by age and number.
CREATE TABLE grave (
  store  TEXT    NOT NULL,  -- as in entry (collection)
  key    TEXT    NOT NULL,  -- as in entry (collection)
  hlc    INTEGER NOT NULL,  -- as in entry (collection)
  origin INTEGER NOT NULL,  -- as in entry (collection)
  lseq   INTEGER NOT NULL,  -- as in entry; a newer one when a device has to read it again
                            -- (collection; meeting)
  PRIMARY KEY (store, key)
) STRICT, WITHOUT ROWID;

-- How far deletions were forgotten without a trace; at most one row.
CREATE TABLE forgotten (
  only INTEGER PRIMARY KEY CHECK (only = 1),  -- keeps it at one row (collection)
  lseq INTEGER NOT NULL                       -- the last arrival number of such a tombstone
                                              -- (collection)
) STRICT;

-- Between which devices a conflict went last, by the identities that they had when that began: who
-- took it over, in both logs, and whose log it came from, in the receiving one (handover).
ALTER TABLE conflict ADD COLUMN receiver INTEGER NOT NULL DEFAULT 0;
ALTER TABLE conflict ADD COLUMN giver INTEGER NOT NULL DEFAULT 0;

-- A conflict is found in another log without a look at all that are there.
CREATE INDEX conflict_stamps ON conflict (loser_hlc, loser_origin, winner_hlc);

-- What nobody has decided yet is found without a look at the values that were lost.
CREATE INDEX conflict_resolved ON conflict (resolved, store);

-- Earlier versions have kept nothing of what they collected.
INSERT INTO forgotten (only, lseq) SELECT 1, gc_lseq FROM replica WHERE gc_lseq > 0;
UPDATE replica SET min_writer = 3;
