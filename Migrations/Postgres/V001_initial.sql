-- A hub's tables in PostgreSQL, schema version 1: those of a hub's file (`../Hub`), for any number
-- of processes at once. Every transaction of an account holds the lock of its row in
-- keepsake_account from its first statement on, so no foreign keys are needed.
--
-- Units: a timestamp (hlc) is 47 bits of milliseconds since 1970 << 16 | a 16-bit counter. A replica
-- ID is a random number of 62 bits. A sequence number (seq) counts what an account let in, from 1,
-- in the order of commits. Names, keys and texts are bytes: PostgreSQL's text holds no NUL, and its
-- order depends on the system. Dates are milliseconds since 1970. `kind` says how to read the bytes
-- of a value: 0 nothing, 1 integer, 2 real, 3 text, 4 bytes.

-- One account: all the devices of one person.
CREATE TABLE keepsake_account (
  id        bigint   NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY,  -- its number (directory)
  hub       bigint   NOT NULL,  -- the replica ID under which devices know it (directory; rename)
  former    bigint[] NOT NULL,  -- replica IDs from before it was restored (rename)
  seq       bigint   NOT NULL,  -- the last sequence number that it gave (each row let in)
  forgotten bigint   NOT NULL,  -- the one up to which it forgot deletions (collection)
  created   bigint   NOT NULL,  -- when it was made (directory)
  rows      bigint   NOT NULL,  -- how many it has, those that are held among them (push)
  bytes     bigint   NOT NULL,  -- what they cost: their keys and values, and 100 for each (push)
  collected bigint   NOT NULL   -- when deletions were looked for to be forgotten (collection)
) WITH (fillfactor = 50);

-- The winning row of every key, deletions included.
CREATE TABLE keepsake_row (
  account bigint NOT NULL,  -- (push)
  tag     bigint NOT NULL,  -- the type, as in a device's file: 0 is a deletion (push)
  hlc     bigint NOT NULL,  -- timestamp of the write, given by its origin (push)
  origin  bigint NOT NULL,  -- replica ID of the device that wrote it (push)
  seq     bigint NOT NULL,  -- its place among the account's rows, never reused (push)
  kind    bigint NOT NULL,  -- how to read its value (push)
  store   bytea  NOT NULL,  -- (push)
  key     bytea  NOT NULL,  -- at least one byte (push)
  value   bytea  NOT NULL,  -- as in a device's file (push)
  PRIMARY KEY (account, store, key)
);

-- What follows a cursor is read from here. The condition always holds; it is there so that only a
-- statement that names it takes this index, and one that looks for a key cannot, whatever the
-- statistics of a small or growing table make PostgreSQL believe.
CREATE UNIQUE INDEX keepsake_row_seq ON keepsake_row (account, store, seq) WHERE seq > 0;

-- Whether rows of an origin are revoked. With a condition that always holds, as above.
CREATE INDEX keepsake_row_origin ON keepsake_row (account, origin, hlc) WHERE hlc >= 0;

-- Deletions that can be forgotten.
CREATE INDEX keepsake_row_deleted ON keepsake_row (account, store, seq) WHERE tag = 0;

-- Rows from the future, which come in when they are due, and their device has read what they
-- replace.
CREATE TABLE keepsake_held (
  account bigint NOT NULL,  -- as in keepsake_row (push)
  tag     bigint NOT NULL,  -- as in keepsake_row (push)
  hlc     bigint NOT NULL,  -- as in keepsake_row (push)
  origin  bigint NOT NULL,  -- as in keepsake_row (push)
  device  bigint NOT NULL,  -- replica ID of the device that pushed it last (push)
  seq     bigint NOT NULL,  -- the account's then: rows up to it that device had read (push)
  kind    bigint NOT NULL,  -- as in keepsake_row (push)
  store   bytea  NOT NULL,  -- as in keepsake_row (push)
  key     bytea  NOT NULL,  -- as in keepsake_row (push)
  value   bytea  NOT NULL,  -- as in keepsake_row (push)
  PRIMARY KEY (account, store, key, hlc, origin)
);

CREATE INDEX keepsake_held_hlc ON keepsake_held (account, hlc, origin);

-- Version vector: every write of `origin` in `store` up to `hlc` was seen, or was beaten by one
-- that was.
CREATE TABLE keepsake_seen (
  account bigint NOT NULL,  -- (push)
  origin  bigint NOT NULL,  -- (push)
  hlc     bigint NOT NULL,  -- (push; revocation)
  store   bytea  NOT NULL,  -- (push)
  PRIMARY KEY (account, store, origin)
) WITH (fillfactor = 50);

-- Replica IDs that were given up because their clock had run ahead.
CREATE TABLE keepsake_revocation (
  account bigint NOT NULL,  -- (revocation)
  origin  bigint NOT NULL,  -- (revocation)
  hlc     bigint NOT NULL,  -- the last timestamp of it that stands (revocation)
  PRIMARY KEY (account, origin)
);

-- What is remembered of a device in a store, as a device remembers another.
CREATE TABLE keepsake_peer (
  account    bigint NOT NULL,  -- (request)
  device     bigint NOT NULL,  -- its replica ID (request)
  cursor     bigint NOT NULL,  -- its sequence number up to which it was read (push)
  acked      bigint NOT NULL,  -- the account's sequence number up to which it has read (offer)
  read_token bigint,           -- token under which it was last read (push)
  token      bigint,           -- token of the newest offer to it (offer)
  prior      bigint,           -- token of the offer before that one (offer)
  their_read bigint,           -- its read_token when that offer was made (offer)
  last_met   bigint NOT NULL,  -- when it last came (request)
  retired    bigint NOT NULL,  -- 1 if collection does not wait for it (retirement; request)
  store      bytea  NOT NULL,  -- (request)
  PRIMARY KEY (account, device, store)
) WITH (fillfactor = 50);

-- A device that may use an account: one token.
CREATE TABLE keepsake_member (
  id       bigint NOT NULL GENERATED ALWAYS AS IDENTITY PRIMARY KEY,  -- its number (directory)
  account  bigint NOT NULL,  -- (directory)
  created  bigint NOT NULL,  -- (directory)
  last_use bigint NOT NULL,  -- (directory)
  replica  bigint,           -- replica ID under which it came last (directory)
  revoked  bigint,           -- when it was revoked (directory)
  revoker  bigint,           -- number of the member that revoked it (directory)
  name     bytea  NOT NULL,  -- what its user calls it (directory)
  token    bytea  NOT NULL   -- SHA-256 of its token (directory)
) WITH (fillfactor = 50);

CREATE UNIQUE INDEX keepsake_member_token ON keepsake_member (token);
CREATE INDEX keepsake_member_account ON keepsake_member (account, id);

-- Lets one more device use an account, once.
CREATE TABLE keepsake_invitation (
  account bigint NOT NULL,             -- (directory)
  ends    bigint NOT NULL,             -- when it is worth nothing any more (directory)
  code    bytea  NOT NULL PRIMARY KEY  -- SHA-256 of its code (directory)
);

CREATE INDEX keepsake_invitation_account ON keepsake_invitation (account);
CREATE INDEX keepsake_invitation_ends ON keepsake_invitation (ends);
