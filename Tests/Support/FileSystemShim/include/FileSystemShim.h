// SPDX-License-Identifier: Apache-2.0
//
// A layer over SQLite's own file system ("unix"): a test sees each call of SQLite before it is
// made, may delay it, fail it, or let it do a part of its work, and sees its result.
#pragma once

#include <sqlite3.h>

#include "FolderCalls.h"

typedef enum {
  shim_open,
  shim_close,
  shim_read,
  shim_write,
  shim_truncate,
  shim_sync,
  shim_size,
  shim_lock,
  shim_unlock,
  shim_check_lock,
  shim_control,
  shim_shm_map,
  shim_shm_lock,
  shim_shm_barrier,
  shim_shm_unmap,
  shim_fetch,
  shim_unfetch,
  shim_delete,
  shim_access,
  shim_operations  // how many there are
} shim_operation;

/// One call of SQLite.
typedef struct {
  shim_operation operation;
  /// Of the file, as SQLite names it; "" for a temporary file.
  const char *path;
  /// What kind of file it is: SQLITE_OPEN_MAIN_DB, SQLITE_OPEN_WAL and so on; 0 for shim_delete and
  /// shim_access, which have no open file.
  int kind;
  /// The same for all calls through one open file; NULL for shim_delete and shim_access.
  const void *file;
  /// Of a read or write; of shim_truncate the new size; of shim_shm_lock the first lock; of
  /// shim_shm_map the region.
  sqlite3_int64 offset;
  /// Bytes of a read or write; of shim_shm_lock how many locks; of shim_shm_map the region's size.
  int count;
  /// Of shim_open, shim_sync, shim_shm_lock and shim_access the flags; of shim_lock and
  /// shim_unlock the level; of shim_control the code; of shim_shm_map whether it may grow.
  int argument;
  /// What shim_write writes; else NULL.
  const void *data;
} shim_call;

/// What becomes of a call.
typedef struct {
  /// SQLITE_OK: the call is made. Anything else: the call is not made, and this is its result.
  /// Without an effect on calls that have no result: shim_close, shim_shm_barrier.
  int code;
  /// With another code: how many bytes a read or write transfers before it fails.
  int partial;
} shim_verdict;

/// Is called before each call, on the thread that makes it, with no lock held by this layer.
typedef shim_verdict (*shim_before)(void *context, const shim_call *call);
/// Is called after each call with its result.
typedef void (*shim_after)(void *context, const shim_call *call, int code);

/// Takes the place of SQLite's file system for all files that are opened from now on.
///
/// - Returns: a result code of SQLite.
int shim_install(void);

/// What sees the calls from now on; NULL for nothing. Set while no file of the test is in use.
void shim_watch(shim_before before, shim_after after, void *context);
