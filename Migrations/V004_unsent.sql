-- Keepsake, schema version 4: what a hub does not have.
-- Units are those of version 1. Older versions may still write: they only do not know what a hub
-- lacks.

-- Entries that a hub has passed and does not have: it takes none so large, or no message can carry
-- them. One that was written again has another arrival number, and is none of them any more.
CREATE TABLE unsent (
  lseq INTEGER NOT NULL,  -- as in entry (meeting)
  hub  INTEGER NOT NULL,  -- the hub's identity (meeting)
  PRIMARY KEY (lseq, hub)
) STRICT, WITHOUT ROWID;
