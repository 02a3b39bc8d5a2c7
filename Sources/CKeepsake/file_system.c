// SPDX-License-Identifier: Apache-2.0
//
// In C, because the methods of a file begin with SQLite's own structure, and C guarantees where its
// members lie. https://www.sqlite.org/vfs.html

#define _GNU_SOURCE
#include "file_system.h"

#include <fcntl.h>
#include <pthread.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

/// The methods of one kind of file. SQLite sees only the first member.
typedef struct Methods {
  sqlite3_io_methods ours;
  const sqlite3_io_methods *theirs;
  /// Whether the file is a database, not its log or a temporary file.
  int is_database;
  struct Methods *next;
} Methods;

static sqlite3_vfs *theirs;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
/// Never freed: files of these kinds may be open. There are about eight.
static Methods *kinds;

/// The failures on this thread, on which SQLite calls `read_file`.
static _Thread_local unsigned read_failures;

static int read_file(sqlite3_file *file, void *data, int count, sqlite3_int64 offset) {
  const Methods *methods = (const Methods *)file->pMethods;
  int code = methods->theirs->xRead(file, data, count, offset);
  if (code == SQLITE_IOERR_CORRUPTFS) code = SQLITE_IOERR_READ;
  if (code == SQLITE_IOERR_SHORT_READ && methods->is_database) {
    // SQLite reads the missing bytes as zeros, and may write them back.
    sqlite3_int64 size = 0;
    int sized = methods->theirs->xFileSize(file, &size);
    if (sized != SQLITE_OK || offset + count <= size) code = SQLITE_IOERR_READ;
  }
  if (code != SQLITE_OK && code != SQLITE_IOERR_SHORT_READ) read_failures++;
  return code;
}

unsigned keepsake_read_failures(void) { return read_failures; }

/// Returns NULL when there is no memory left.
static Methods *find_methods(const sqlite3_io_methods *original, int is_database) {
  pthread_mutex_lock(&mutex);
  Methods *methods = kinds;
  while (methods && (methods->theirs != original || methods->is_database != is_database)) {
    methods = methods->next;
  }
  if (!methods && (methods = malloc(sizeof *methods))) {
    *methods = (Methods){*original, original, is_database, kinds};
    // A later SQLite may have methods that this structure lacks.
    if (methods->ours.iVersion > 3) methods->ours.iVersion = 3;
    methods->ours.xRead = read_file;
    kinds = methods;
  }
  pthread_mutex_unlock(&mutex);
  return methods;
}

static int open_file(
    sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *out_flags) {
  (void)vfs;
  int code = theirs->xOpen(theirs, path, file, flags, out_flags);
  if (code != SQLITE_OK) return code;
  const Methods *methods = find_methods(file->pMethods, (flags & SQLITE_OPEN_MAIN_DB) != 0);
  if (!methods) {
    file->pMethods->xClose(file);
    file->pMethods = NULL;
    return SQLITE_NOMEM;
  }
  file->pMethods = &methods->ours;
  return SQLITE_OK;
}

const char *keepsake_register_file_system(void) {
  static sqlite3_vfs ours;
  theirs = sqlite3_vfs_find("unix");
  if (theirs) {
    ours = *theirs;
    ours.zName = "keepsake";
    ours.xOpen = open_file;
    ours.pNext = NULL;
    // If this fails, opening a database fails: "no such vfs".
    sqlite3_vfs_register(&ours, 0);
  }
  return "keepsake";
}

void keepsake_keep_log(sqlite3 *connection, int keeps) {
  if (connection) sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, keeps, NULL);
}

int keepsake_rename_exclusively(const char *path, const char *target) {
#ifdef __APPLE__
  return renamex_np(path, target, RENAME_EXCL);
#else
  return renameat2(AT_FDCWD, path, AT_FDCWD, target, RENAME_NOREPLACE);
#endif
}
