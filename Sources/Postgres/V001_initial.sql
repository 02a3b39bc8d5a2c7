-- SPDX-License-Identifier: Apache-2.0
-- Names and keys are bytes: PostgreSQL's text holds no NUL, and its order depends on the system.
CREATE TABLE keepsake_account (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  hub bigint NOT NULL,
  former bigint[] NOT NULL,
  seq bigint NOT NULL,
  forgotten bigint NOT NULL,
  created bigint NOT NULL
) WITH (fillfactor = 50);

-- No foreign keys: every transaction of an account holds the lock of its row above.
CREATE TABLE keepsake_row (
  account bigint NOT NULL,
  tag bigint NOT NULL,
  hlc bigint NOT NULL,
  origin bigint NOT NULL,
  seq bigint NOT NULL,
  -- 0 nothing, 1 integer, 2 real, 3 text, 4 bytes.
  kind bigint NOT NULL,
  store bytea NOT NULL,
  key bytea NOT NULL,
  value bytea NOT NULL,
  PRIMARY KEY (account, store, key)
);
CREATE UNIQUE INDEX keepsake_row_seq ON keepsake_row (account, store, seq);

CREATE TABLE keepsake_held (
  account bigint NOT NULL,
  tag bigint NOT NULL,
  hlc bigint NOT NULL,
  origin bigint NOT NULL,
  kind bigint NOT NULL,
  store bytea NOT NULL,
  key bytea NOT NULL,
  value bytea NOT NULL,
  PRIMARY KEY (account, store, key, hlc, origin)
);

CREATE TABLE keepsake_seen (
  account bigint NOT NULL,
  store bytea NOT NULL,
  origin bigint NOT NULL,
  hlc bigint NOT NULL,
  PRIMARY KEY (account, store, origin)
);

CREATE TABLE keepsake_revocation (
  account bigint NOT NULL,
  origin bigint NOT NULL,
  hlc bigint NOT NULL,
  PRIMARY KEY (account, origin)
);

CREATE TABLE keepsake_peer (
  account bigint NOT NULL,
  device bigint NOT NULL,
  store bytea NOT NULL,
  cursor bigint NOT NULL,
  acked bigint NOT NULL,
  read_token bigint,
  token bigint,
  prior bigint,
  their_read bigint,
  last_met bigint NOT NULL,
  PRIMARY KEY (account, device, store)
) WITH (fillfactor = 50);

CREATE TABLE keepsake_member (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  account bigint NOT NULL,
  name bytea NOT NULL,
  token bytea NOT NULL UNIQUE,
  created bigint NOT NULL,
  last_use bigint NOT NULL,
  replica bigint,
  revoked bigint,
  revoker bigint
) WITH (fillfactor = 50);
CREATE INDEX keepsake_member_account ON keepsake_member (account, id);

CREATE TABLE keepsake_invitation (
  code bytea PRIMARY KEY,
  account bigint NOT NULL,
  ends bigint NOT NULL
);
