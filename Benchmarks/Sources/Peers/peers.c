// SPDX-License-Identifier: Apache-2.0
//
// The declarations are those of lmdb.h 0.9, leveldb/c.h 1.23 and plist/plist.h 2.2.

#include "peers.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  size_t size;
  void *data;
} Bytes;

enum { NoSubfolder = 0x4000, NoSync = 0x10000, ReadOnly = 0x20000, Create = 0x40000 };

static struct {
  int (*env_create)(void **);
  int (*env_set_mapsize)(void *, size_t);
  int (*env_open)(void *, const char *, unsigned, unsigned);
  void (*env_close)(void *);
  int (*txn_begin)(void *, void *, unsigned, void **);
  int (*txn_commit)(void *);
  void (*txn_abort)(void *);
  void (*txn_reset)(void *);
  int (*txn_renew)(void *);
  int (*dbi_open)(void *, const char *, unsigned, unsigned *);
  int (*get)(void *, unsigned, Bytes *, Bytes *);
  int (*put)(void *, unsigned, Bytes *, Bytes *, unsigned);
} lmdb;

static struct {
  void *(*options_create)(void);
  void (*options_set_create_if_missing)(void *, unsigned char);
  void *(*readoptions_create)(void);
  void *(*writeoptions_create)(void);
  void (*writeoptions_set_sync)(void *, unsigned char);
  void *(*open)(void *, const char *, char **);
  void (*close)(void *);
  char *(*get)(void *, void *, const char *, size_t, size_t *, char **);
  void *(*writebatch_create)(void);
  void (*writebatch_destroy)(void *);
  void (*writebatch_put)(void *, const char *, size_t, const char *, size_t);
  void (*write)(void *, void *, void *, char **);
  void (*free)(void *);
} leveldb;

static struct {
  void (*from_bin)(const char *, uint32_t, void **);
  void (*from_xml)(const char *, uint32_t, void **);
  void (*free)(void *);
} plist;

static void *library(const char *const *names) {
  void *found = NULL;
  for (; !found && *names; names++) found = dlopen(*names, RTLD_NOW | RTLD_LOCAL);
  return found;
}

#define FIND(table, prefix, name) \
  (*(void **)&table.name = dlsym(handle, prefix #name), table.name != NULL)

static bool load_lmdb(void) {
  void *handle = library((const char *const[]){"liblmdb.so.0", "liblmdb.so", NULL});
  return handle && FIND(lmdb, "mdb_", env_create) && FIND(lmdb, "mdb_", env_set_mapsize) &&
         FIND(lmdb, "mdb_", env_open) && FIND(lmdb, "mdb_", env_close) &&
         FIND(lmdb, "mdb_", txn_begin) && FIND(lmdb, "mdb_", txn_commit) &&
         FIND(lmdb, "mdb_", txn_abort) && FIND(lmdb, "mdb_", txn_reset) &&
         FIND(lmdb, "mdb_", txn_renew) && FIND(lmdb, "mdb_", dbi_open) &&
         FIND(lmdb, "mdb_", get) && FIND(lmdb, "mdb_", put);
}

static bool load_leveldb(void) {
  void *handle = library((const char *const[]){"libleveldb.so.1d", "libleveldb.so.1",
                                               "libleveldb.so", NULL});
  return handle && FIND(leveldb, "leveldb_", options_create) &&
         FIND(leveldb, "leveldb_", options_set_create_if_missing) &&
         FIND(leveldb, "leveldb_", readoptions_create) &&
         FIND(leveldb, "leveldb_", writeoptions_create) &&
         FIND(leveldb, "leveldb_", writeoptions_set_sync) && FIND(leveldb, "leveldb_", open) &&
         FIND(leveldb, "leveldb_", close) && FIND(leveldb, "leveldb_", get) &&
         FIND(leveldb, "leveldb_", writebatch_create) &&
         FIND(leveldb, "leveldb_", writebatch_destroy) &&
         FIND(leveldb, "leveldb_", writebatch_put) && FIND(leveldb, "leveldb_", write) &&
         FIND(leveldb, "leveldb_", free);
}

static bool load_plist(void) {
  void *handle = library((const char *const[]){"libplist-2.0.so.3", "libplist-2.0.so.4",
                                               "libplist-2.0.so", NULL});
  return handle && FIND(plist, "plist_", from_bin) && FIND(plist, "plist_", from_xml) &&
         FIND(plist, "plist_", free);
}

bool peer_is_installed(PeerKind kind) {
  static bool (*const load[])(void) = {load_lmdb, load_leveldb, load_plist};
  static int known[3];
  if (!known[kind]) known[kind] = load[kind]() ? 1 : -1;
  return known[kind] == 1;
}

bool peer_parse_plist(const char *bytes, size_t length, bool binary) {
  void *root = NULL;
  if (!peer_is_installed(PeerPlist)) return false;
  (binary ? plist.from_bin : plist.from_xml)(bytes, (uint32_t)length, &root);
  if (!root) return false;
  plist.free(root);
  return true;
}

struct Peer {
  PeerKind kind;
  void *database;
  void *reader;  // LMDB: a transaction that each read renews. LevelDB: options.
  void *writer;  // LevelDB: options.
  unsigned table;
};

static bool open_lmdb(Peer *peer, const char *path, bool synced) {
  void *transaction;
  if (lmdb.env_create(&peer->database)) return false;
  // An address range, not memory.
  lmdb.env_set_mapsize(peer->database, (size_t)4 << 30);
  if (lmdb.env_open(peer->database, path, NoSubfolder | (synced ? 0 : NoSync), 0644) ||
      lmdb.txn_begin(peer->database, NULL, 0, &transaction))
    return false;
  if (lmdb.dbi_open(transaction, NULL, Create, &peer->table) || lmdb.txn_commit(transaction) ||
      lmdb.txn_begin(peer->database, NULL, ReadOnly, &peer->reader))
    return false;
  lmdb.txn_reset(peer->reader);
  return true;
}

static bool open_leveldb(Peer *peer, const char *path, bool synced) {
  void *options = leveldb.options_create();
  leveldb.options_set_create_if_missing(options, 1);
  char *fault = NULL;
  peer->database = leveldb.open(options, path, &fault);
  peer->reader = leveldb.readoptions_create();
  peer->writer = leveldb.writeoptions_create();
  leveldb.writeoptions_set_sync(peer->writer, synced);
  return !fault;
}

Peer *peer_open(PeerKind kind, const char *path, bool synced) {
  if (!peer_is_installed(kind)) return NULL;
  Peer *peer = calloc(1, sizeof *peer);
  peer->kind = kind;
  bool is_open =
      kind == PeerLMDB ? open_lmdb(peer, path, synced) : open_leveldb(peer, path, synced);
  if (is_open) return peer;
  free(peer);
  return NULL;
}

void peer_close(Peer *peer) {
  if (peer->kind == PeerLMDB) {
    lmdb.txn_abort(peer->reader);
    lmdb.env_close(peer->database);
  } else {
    leveldb.close(peer->database);
    leveldb.free(peer->reader);
    leveldb.free(peer->writer);
  }
  free(peer);
}

static long get_lmdb(Peer *peer, Bytes key, char *value, size_t capacity) {
  Bytes found;
  long length = -1;
  if (lmdb.txn_renew(peer->reader)) return -1;
  if (!lmdb.get(peer->reader, peer->table, &key, &found) && found.size <= capacity) {
    memcpy(value, found.data, found.size);
    length = (long)found.size;
  }
  lmdb.txn_reset(peer->reader);
  return length;
}

static long get_leveldb(Peer *peer, Bytes key, char *value, size_t capacity) {
  size_t size = 0;
  char *fault = NULL;
  char *found = leveldb.get(peer->database, peer->reader, key.data, key.size, &size, &fault);
  if (!found || size > capacity) return -1;
  memcpy(value, found, size);
  leveldb.free(found);
  return (long)size;
}

long peer_get(Peer *peer, const char *key, size_t length, char *value, size_t capacity) {
  Bytes bytes = {length, (void *)key};
  return peer->kind == PeerLMDB ? get_lmdb(peer, bytes, value, capacity)
                                : get_leveldb(peer, bytes, value, capacity);
}

static bool put_lmdb(Peer *peer, Bytes key, Bytes value, size_t count) {
  void *transaction;
  if (lmdb.txn_begin(peer->database, NULL, 0, &transaction)) return false;
  for (size_t i = 0; i < count; i++) {
    Bytes one = {key.size, (char *)key.data + i * key.size};
    Bytes other = {value.size, (char *)value.data + i * value.size};
    if (lmdb.put(transaction, peer->table, &one, &other, 0)) {
      lmdb.txn_abort(transaction);
      return false;
    }
  }
  return !lmdb.txn_commit(transaction);
}

static bool put_leveldb(Peer *peer, Bytes key, Bytes value, size_t count) {
  char *fault = NULL;
  void *batch = leveldb.writebatch_create();
  for (size_t i = 0; i < count; i++)
    leveldb.writebatch_put(batch, (char *)key.data + i * key.size, key.size,
                           (char *)value.data + i * value.size, value.size);
  leveldb.write(peer->database, peer->writer, batch, &fault);
  leveldb.writebatch_destroy(batch);
  return !fault;
}

bool peer_put(Peer *peer, const char *keys, size_t key_length, const char *values,
              size_t value_length, size_t count) {
  Bytes key = {key_length, (void *)keys}, value = {value_length, (void *)values};
  return peer->kind == PeerLMDB ? put_lmdb(peer, key, value, count)
                                : put_leveldb(peer, key, value, count);
}
