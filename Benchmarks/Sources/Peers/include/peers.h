// SPDX-License-Identifier: Apache-2.0
//
// LMDB, LevelDB and libplist, where they are installed: found when the program runs, so that it
// builds without them.

#ifndef PEERS_H
#define PEERS_H

#include <stdbool.h>
#include <stddef.h>

typedef enum { PeerLMDB, PeerLevelDB, PeerPlist } PeerKind;
typedef struct Peer Peer;

/// Whether the library is here.
bool peer_is_installed(PeerKind kind);

/// Parses a property list by libplist, and frees the tree.
///
/// - Returns: whether it could be parsed.
bool peer_parse_plist(const char *bytes, size_t length, bool binary);

/// Opens or makes a database; NULL if that fails.
///
/// - Parameter synced: whether a put that has returned survives a power failure.
Peer *peer_open(PeerKind kind, const char *path, bool synced);
void peer_close(Peer *peer);

/// Copies the value of a key.
///
/// - Returns: its length, or -1 if there is none or it is longer than `capacity`.
long peer_get(Peer *peer, const char *key, size_t length, char *value, size_t capacity);

/// Puts `count` keys in one transaction: `keys` and `values` have `count` items, one after the
/// other, of `key_length` and `value_length` bytes.
bool peer_put(Peer *peer, const char *keys, size_t key_length, const char *values,
              size_t value_length, size_t count);

#endif
