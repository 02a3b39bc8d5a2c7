-- A hub's file, schema version 1. One file holds all accounts of a hub.
--
-- Units: a timestamp (hlc) is 47 bits of milliseconds since 1970 << 16 | a 16-bit counter. A replica
-- ID is a random number of 62 bits. A sequence number (seq) counts what an account let in, from 1,
-- in the order of commits. Text compares by its UTF-8 bytes (BINARY). Dates are milliseconds since
-- 1970. `account` comes first in every key, so what belongs to one account lies together.

PRAGMA application_id = 0x4B485542;  -- "KHUB"
PRAGMA user_version = 1;             -- how many migrations the file has

-- One account: all the devices of one person.
CREATE TABLE account (
  id        INTEGER PRIMARY KEY AUTOINCREMENT,  -- its number, never reused (directory)
  hub       INTEGER NOT NULL,  -- the replica ID under which devices know it (directory; rename)
  former    TEXT    NOT NULL,  -- replica IDs from before it was restored: 16 hexadecimal digits
                               -- each, a space between two (rename)
  seq       INTEGER NOT NULL,  -- the last sequence number that it gave (each row let in)
  forgotten INTEGER NOT NULL,  -- the one up to which it forgot deletions (collection)
  rows      INTEGER NOT NULL,  -- how many it has, in entry and in held (push)
  bytes     INTEGER NOT NULL,  -- what they cost: their keys and values, and 100 for each (push)
  collected INTEGER NOT NULL   -- when deletions were looked for that can be forgotten (collection)
) STRICT;

-- The winning row of every key, deletions included.
CREATE TABLE entry (
  account INTEGER NOT NULL,  -- (push)
  store   TEXT    NOT NULL,  -- (push)
  key     TEXT    NOT NULL,  -- at least one byte; of a sealed row the pseudonym of its key (push)
  tag     INTEGER,           -- the type, as in a device's file: 0 is a deletion; NULL is kept for
                             -- sealed rows, which version 1 has not (push)
  value   ANY,               -- as in a device's file; of a sealed row its sealed bytes (push)
  hlc     INTEGER NOT NULL,  -- timestamp of the write, given by its origin (push)
  origin  INTEGER NOT NULL,  -- replica ID of the device that wrote it (push)
  seq     INTEGER NOT NULL,  -- its place among the account's rows, never reused (push)
  PRIMARY KEY (account, store, key)
) STRICT, WITHOUT ROWID;

-- What follows a cursor is read from here; it also leads from store to store.
CREATE UNIQUE INDEX entry_seq ON entry (account, store, seq);

-- Deletions that can be forgotten.
CREATE INDEX entry_deleted ON entry (account, store, seq) WHERE tag = 0;

-- Whether rows of an origin are revoked.
CREATE INDEX entry_origin ON entry (account, origin, hlc);

-- Rows from the future, which come in when they are due, and their device has read what they
-- replace.
CREATE TABLE held (
  account INTEGER NOT NULL,  -- as in entry (push)
  store   TEXT    NOT NULL,  -- as in entry (push)
  key     TEXT    NOT NULL,  -- as in entry (push)
  tag     INTEGER,           -- as in entry (push)
  value   ANY,               -- as in entry (push)
  hlc     INTEGER NOT NULL,  -- as in entry (push)
  origin  INTEGER NOT NULL,  -- as in entry (push)
  device  INTEGER NOT NULL,  -- replica ID of the device that pushed it last (push)
  seq     INTEGER NOT NULL,  -- the account's then: rows up to it that device had read (push)
  PRIMARY KEY (account, store, key, hlc, origin)
) STRICT, WITHOUT ROWID;

CREATE INDEX held_hlc ON held (account, hlc, origin);
CREATE INDEX held_origin ON held (account, origin, hlc);

-- Version vector: every write of `origin` in `store` up to `hlc` was seen, or was beaten by one
-- that was.
CREATE TABLE seen (
  account INTEGER NOT NULL,  -- (push)
  store   TEXT    NOT NULL,  -- (push)
  origin  INTEGER NOT NULL,  -- (push)
  hlc     INTEGER NOT NULL,  -- (push; revocation)
  PRIMARY KEY (account, store, origin)
) STRICT, WITHOUT ROWID;

-- Replica IDs that were given up because their clock had run ahead.
CREATE TABLE revocation (
  account INTEGER NOT NULL,  -- (revocation)
  origin  INTEGER NOT NULL,  -- (revocation)
  hlc     INTEGER NOT NULL,  -- the last timestamp of it that stands (revocation)
  PRIMARY KEY (account, origin)
) STRICT, WITHOUT ROWID;

-- What is remembered of a device in a store, as a device remembers another.
CREATE TABLE peer (
  account    INTEGER NOT NULL,  -- (request)
  device     INTEGER NOT NULL,  -- its replica ID (request)
  store      TEXT    NOT NULL,  -- (request)
  cursor     INTEGER NOT NULL,  -- its sequence number up to which it was read (push)
  acked      INTEGER NOT NULL,  -- the account's sequence number up to which it has read (offer)
  read_token INTEGER,           -- token under which it was last read (push)
  token      INTEGER,           -- token of the newest offer to it (offer)
  prior      INTEGER,           -- token of the offer before that one (offer)
  their_read INTEGER,           -- its read_token when that offer was made (offer)
  last_met   INTEGER NOT NULL,  -- when it last came (request)
  retired    INTEGER NOT NULL,  -- 1 if collection does not wait for it (retirement; request)
  PRIMARY KEY (account, device, store)
) STRICT, WITHOUT ROWID;

-- A device that may use an account: one token.
CREATE TABLE member (
  id       INTEGER PRIMARY KEY AUTOINCREMENT,  -- its number, never reused (directory)
  account  INTEGER NOT NULL,  -- (directory)
  name     TEXT    NOT NULL,  -- what its user calls it (directory)
  token    BLOB    NOT NULL,  -- SHA-256 of its token (directory)
  created  INTEGER NOT NULL,  -- (directory)
  last_use INTEGER NOT NULL,  -- (directory)
  replica  INTEGER,           -- replica ID under which it came last (directory)
  revoked  INTEGER,           -- when it was revoked (directory)
  revoker  INTEGER            -- number of the member that revoked it (directory)
) STRICT;

CREATE UNIQUE INDEX member_token ON member (token);
CREATE INDEX member_account ON member (account, id);

-- Lets one more device use an account, once.
CREATE TABLE invitation (
  code    BLOB    NOT NULL PRIMARY KEY,  -- SHA-256 of its code (directory)
  account INTEGER NOT NULL,              -- (directory)
  ends    INTEGER NOT NULL               -- when it is worth nothing any more (directory)
) STRICT, WITHOUT ROWID;

CREATE INDEX invitation_account ON invitation (account);
CREATE INDEX invitation_ends ON invitation (ends);
