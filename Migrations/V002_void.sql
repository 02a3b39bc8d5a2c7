-- Keepsake, schema version 2: a device whose clock had run ahead takes its stamps back, and
-- conflicts are resolved.
-- Units are those of version 1. Older versions may still write: they only do not know what is void.

-- Identities that were given up because their clock had run ahead. Their writes stamped later than
-- `hlc` count as made then, and those that wait for their time never come in. Travels with every
-- meeting; of two limits for one identity the smaller holds.
CREATE TABLE void (
  origin INTEGER PRIMARY KEY,  -- the identity that was given up (repair of the clock; meeting)
  hlc    INTEGER NOT NULL      -- the last stamp of it that stands (repair of the clock; meeting)
) STRICT;

-- 1 when somebody has decided: the loser was restored, or an application has resolved the conflict
-- (resolution).
ALTER TABLE conflict ADD COLUMN resolved INTEGER NOT NULL DEFAULT 0;
