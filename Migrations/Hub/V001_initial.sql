-- A hub's file, schema version 1. One file holds all accounts of a hub.
--
-- Units: a sequence number (number) counts the rows that were pushed to an account, from 1, in the
-- order of commits. A mark is a number and 62 random bits (bits). Dates are milliseconds since
-- 1970. Keys, rows, vectors and the marks of devices are opaque, texts are bytes. `account` comes
-- first in every key, so what belongs to one account lies together. The tables are those that a hub
-- has in PostgreSQL (`../Postgres`), which most statements are common to.

PRAGMA application_id = 0x4B485542;  -- "KHUB"
PRAGMA user_version = 1;             -- how many migrations the file has

-- One account: all the devices of one person.
CREATE TABLE keepsake_account (
  id          INTEGER NOT NULL PRIMARY KEY,  -- random, below 2^62
  mark_number INTEGER NOT NULL,  -- the newest mark; the last sequence number that it gave
  mark_bits   INTEGER NOT NULL,
  mark_time   INTEGER NOT NULL,
  forgotten   INTEGER NOT NULL,  -- the highest number of a row that was forgotten
  rows        INTEGER NOT NULL,  -- how many it has
  bytes       INTEGER NOT NULL   -- of their keys and bodies
) STRICT;

-- The newest row of every key.
CREATE TABLE keepsake_row (
  account    INTEGER NOT NULL,
  number     INTEGER NOT NULL,  -- its sequence number
  is_deleted INTEGER NOT NULL,  -- 1 if a device may ask to forget it
  key        BLOB    NOT NULL,
  body       BLOB    NOT NULL,
  PRIMARY KEY (account, key)
) STRICT, WITHOUT ROWID;

-- Rows above a number are read from here.
CREATE INDEX keepsake_row_number ON keepsake_row (account, number);

-- The vectors of each push that no later one had read.
CREATE TABLE keepsake_vectors (
  account INTEGER NOT NULL,
  number  INTEGER NOT NULL,  -- after the push
  body    BLOB    NOT NULL,
  PRIMARY KEY (account, number)
) STRICT, WITHOUT ROWID;

-- The newest marks.
CREATE TABLE keepsake_mark (
  account INTEGER NOT NULL,
  number  INTEGER NOT NULL,
  time    INTEGER NOT NULL,
  bits    INTEGER NOT NULL,
  PRIMARY KEY (account, number)
) STRICT, WITHOUT ROWID;

-- A replica ID that has pushed.
CREATE TABLE keepsake_replica (
  account INTEGER NOT NULL,
  id      BLOB    NOT NULL,
  number  INTEGER NOT NULL,  -- the account's sequence number after its last push
  mark    BLOB    NOT NULL,  -- the device's own mark at that push
  PRIMARY KEY (account, id)
) STRICT, WITHOUT ROWID;

-- A device that may use an account: one token.
CREATE TABLE keepsake_device (
  account  INTEGER NOT NULL,
  number   INTEGER NOT NULL,  -- one more than the highest of the account when it joined
  created  INTEGER NOT NULL,
  last_use INTEGER NOT NULL,
  name     BLOB    NOT NULL,
  token    BLOB    NOT NULL,  -- SHA-256 of its token
  PRIMARY KEY (account, number)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX keepsake_device_token ON keepsake_device (account, token);

-- Lets one more device join an account, once.
CREATE TABLE keepsake_invitation (
  account INTEGER NOT NULL PRIMARY KEY,
  ends    INTEGER NOT NULL,
  code    BLOB    NOT NULL  -- SHA-256 of its code
) STRICT;
