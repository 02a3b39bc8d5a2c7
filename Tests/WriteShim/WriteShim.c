// SPDX-License-Identifier: Apache-2.0

#include "WriteShim.h"

#include <pthread.h>
#include <sqlite3.h>
#include <stddef.h>
#include <string.h>

/// One open database file; `real` is SQLite's own object for it.
typedef struct {
  sqlite3_file base;
  const char *path;
  int level;
  int holds_write_lock;
  sqlite3_file *real;
} File;

enum { write_lock = 0, checkpoint_lock = 1, most_files = 64 };

static sqlite3_vfs *real_vfs;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static File *holders[most_files];
static int unlocked, writes, checkpoints;
static void (*next_hook)(void *);
static void *next_context;

static sqlite3_file *real(sqlite3_file *file) { return ((File *)file)->real; }

static void set_holder(File *file, int holds) {
  for (int i = 0; i < most_files; i++) {
    if (holders[i] == file || (holds && holders[i] == NULL)) {
      holders[i] = holds ? file : NULL;
      break;
    }
  }
  file->holds_write_lock = holds;
}

static int is_locked(File *file) {
  if (file->level == SQLITE_LOCK_EXCLUSIVE) return 1;
  for (int i = 0; i < most_files; i++) {
    if (holders[i] != NULL && strcmp(holders[i]->path, file->path) == 0) return 1;
  }
  return 0;
}

static int shim_write(sqlite3_file *file, const void *data, int count, sqlite3_int64 offset) {
  pthread_mutex_lock(&mutex);
  writes++;
  if (!is_locked((File *)file)) unlocked++;
  void (*hook)(void *) = NULL;
  if (((File *)file)->level != SQLITE_LOCK_EXCLUSIVE) {
    hook = next_hook;
    next_hook = NULL;
  }
  pthread_mutex_unlock(&mutex);
  if (hook) hook(next_context);
  return real(file)->pMethods->xWrite(real(file), data, count, offset);
}

static int shim_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
  int code = real(file)->pMethods->xShmLock(real(file), offset, count, flags);
  if (code != SQLITE_OK || !(flags & SQLITE_SHM_EXCLUSIVE)) return code;
  pthread_mutex_lock(&mutex);
  int is_taken = (flags & SQLITE_SHM_LOCK) != 0;
  if (offset <= write_lock && offset + count > write_lock) set_holder((File *)file, is_taken);
  // Recovery of a log takes this lock with others.
  if (offset == checkpoint_lock && count == 1 && is_taken) checkpoints++;
  pthread_mutex_unlock(&mutex);
  return code;
}

static int shim_close(sqlite3_file *file) {
  pthread_mutex_lock(&mutex);
  if (((File *)file)->holds_write_lock) set_holder((File *)file, 0);
  pthread_mutex_unlock(&mutex);
  int code = real(file)->pMethods->xClose(real(file));
  sqlite3_free(real(file));
  return code;
}

static int shim_lock(sqlite3_file *file, int level) {
  int code = real(file)->pMethods->xLock(real(file), level);
  if (code == SQLITE_OK && level > ((File *)file)->level) ((File *)file)->level = level;
  return code;
}

static int shim_unlock(sqlite3_file *file, int level) {
  if (level < ((File *)file)->level) ((File *)file)->level = level;
  return real(file)->pMethods->xUnlock(real(file), level);
}

static int shim_read(sqlite3_file *file, void *data, int count, sqlite3_int64 offset) {
  return real(file)->pMethods->xRead(real(file), data, count, offset);
}
static int shim_truncate(sqlite3_file *file, sqlite3_int64 size) {
  return real(file)->pMethods->xTruncate(real(file), size);
}
static int shim_sync(sqlite3_file *file, int flags) {
  return real(file)->pMethods->xSync(real(file), flags);
}
static int shim_size(sqlite3_file *file, sqlite3_int64 *size) {
  return real(file)->pMethods->xFileSize(real(file), size);
}
static int shim_check(sqlite3_file *file, int *is_reserved) {
  return real(file)->pMethods->xCheckReservedLock(real(file), is_reserved);
}
static int shim_control(sqlite3_file *file, int code, void *data) {
  return real(file)->pMethods->xFileControl(real(file), code, data);
}
static int shim_sector(sqlite3_file *file) { return real(file)->pMethods->xSectorSize(real(file)); }
static int shim_device(sqlite3_file *file) {
  return real(file)->pMethods->xDeviceCharacteristics(real(file));
}
static int shim_shm_map(
    sqlite3_file *file, int region, int size, int extend, void volatile **data) {
  return real(file)->pMethods->xShmMap(real(file), region, size, extend, data);
}
static void shim_shm_barrier(sqlite3_file *file) { real(file)->pMethods->xShmBarrier(real(file)); }
static int shim_shm_unmap(sqlite3_file *file, int deletes) {
  return real(file)->pMethods->xShmUnmap(real(file), deletes);
}

static const sqlite3_io_methods methods = {
    .iVersion = 2,
    .xClose = shim_close,
    .xRead = shim_read,
    .xWrite = shim_write,
    .xTruncate = shim_truncate,
    .xSync = shim_sync,
    .xFileSize = shim_size,
    .xLock = shim_lock,
    .xUnlock = shim_unlock,
    .xCheckReservedLock = shim_check,
    .xFileControl = shim_control,
    .xSectorSize = shim_sector,
    .xDeviceCharacteristics = shim_device,
    .xShmMap = shim_shm_map,
    .xShmLock = shim_shm_lock,
    .xShmBarrier = shim_shm_barrier,
    .xShmUnmap = shim_shm_unmap,
};

static int shim_open(
    sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *out) {
  // Logs, journals and temporary files are SQLite's own matter.
  if (!(flags & SQLITE_OPEN_MAIN_DB)) return real_vfs->xOpen(real_vfs, path, file, flags, out);
  File *shim = (File *)file;
  memset(shim, 0, sizeof *shim);
  shim->path = path;
  shim->real = sqlite3_malloc(real_vfs->szOsFile);
  if (shim->real == NULL) return SQLITE_NOMEM;
  memset(shim->real, 0, real_vfs->szOsFile);
  int code = real_vfs->xOpen(real_vfs, path, shim->real, flags, out);
  if (shim->real->pMethods) {
    shim->base.pMethods = &methods;
  } else {
    sqlite3_free(shim->real);
  }
  return code;
}

int write_shim_install(void) {
  static sqlite3_vfs vfs;
  real_vfs = sqlite3_vfs_find("unix");
  vfs = *real_vfs;
  // By the same name: an attached file asks for it.
  if (vfs.szOsFile < (int)sizeof(File)) vfs.szOsFile = sizeof(File);
  vfs.xOpen = shim_open;
  vfs.pNext = NULL;
  return sqlite3_vfs_register(&vfs, 1);
}

static int read_count(int *count) {
  pthread_mutex_lock(&mutex);
  int value = *count;
  pthread_mutex_unlock(&mutex);
  return value;
}

int write_shim_unlocked(void) { return read_count(&unlocked); }
int write_shim_writes(void) { return read_count(&writes); }
int write_shim_checkpoints(void) { return read_count(&checkpoints); }

void write_shim_at_next_write(void (*hook)(void *), void *context) {
  pthread_mutex_lock(&mutex);
  next_hook = hook;
  next_context = context;
  pthread_mutex_unlock(&mutex);
}
