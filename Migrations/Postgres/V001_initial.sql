-- A hub's tables in PostgreSQL, schema version 1: those of a hub's file (`../Hub`), for any number
-- of processes at once. Every transaction that changes an account holds the lock of its row in
-- keepsake_account from its first statement on, so no foreign keys are needed.
--
-- Units: a sequence number (number) counts the rows that were pushed to an account, from 1, in the
-- order of commits. A mark is a number and 62 random bits (bits). Dates are milliseconds since
-- 1970. Keys, rows, vectors and the marks of devices are opaque. Texts are bytes: PostgreSQL's text
-- holds no NUL, and its order depends on the system.

-- One account: all the devices of one person.
CREATE TABLE keepsake_account (
  id          bigint NOT NULL PRIMARY KEY,  -- random, below 2^62
  mark_number bigint NOT NULL,  -- the newest mark; the last sequence number that it gave
  mark_bits   bigint NOT NULL,
  mark_time   bigint NOT NULL,
  forgotten   bigint NOT NULL,  -- the highest number of a row that was forgotten
  rows        bigint NOT NULL,  -- how many it has
  bytes       bigint NOT NULL   -- of their keys and bodies
) WITH (fillfactor = 50);

-- The newest row of every key.
CREATE TABLE keepsake_row (
  account    bigint NOT NULL,
  number     bigint NOT NULL,  -- its sequence number
  is_deleted bigint NOT NULL,  -- 1 if a device may ask to forget it
  key        bytea  NOT NULL,
  body       bytea  NOT NULL,
  PRIMARY KEY (account, key)
);

-- Rows above a number are read from here. The condition always holds: only a statement that names
-- it uses this index, whatever the statistics of a growing table make PostgreSQL believe.
CREATE UNIQUE INDEX keepsake_row_number ON keepsake_row (account, number) WHERE number > 0;

-- The vectors of each push that no later one had read.
CREATE TABLE keepsake_vectors (
  account bigint NOT NULL,
  number  bigint NOT NULL,  -- after the push
  body    bytea  NOT NULL,
  PRIMARY KEY (account, number)
);

-- The newest marks.
CREATE TABLE keepsake_mark (
  account bigint NOT NULL,
  number  bigint NOT NULL,
  time    bigint NOT NULL,
  bits    bigint NOT NULL,
  PRIMARY KEY (account, number)
);

-- A replica ID that has pushed.
CREATE TABLE keepsake_replica (
  account bigint NOT NULL,
  id      bytea  NOT NULL,
  number  bigint NOT NULL,  -- the account's sequence number after its last push
  mark    bytea  NOT NULL,  -- the device's own mark at that push
  PRIMARY KEY (account, id)
) WITH (fillfactor = 50);

-- A device that may use an account: one token.
CREATE TABLE keepsake_device (
  account  bigint NOT NULL,
  number   bigint NOT NULL,  -- one more than the highest of the account when it joined
  created  bigint NOT NULL,
  last_use bigint NOT NULL,
  name     bytea  NOT NULL,
  token    bytea  NOT NULL,  -- SHA-256 of its token
  PRIMARY KEY (account, number)
) WITH (fillfactor = 50);

CREATE UNIQUE INDEX keepsake_device_token ON keepsake_device (account, token);

-- Lets one more device join an account, once.
CREATE TABLE keepsake_invitation (
  account bigint NOT NULL PRIMARY KEY,
  ends    bigint NOT NULL,
  code    bytea  NOT NULL  -- SHA-256 of its code
);
