// SPDX-License-Identifier: Apache-2.0

#include "FileSystemShim.h"

#include <stddef.h>
#include <string.h>

/// One open file. SQLite's own object for it follows it in memory.
typedef struct {
  sqlite3_file base;
  const char *path;
  int kind;
  sqlite3_file *real;
} File;

enum {
  kinds = SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_MAIN_JOURNAL | SQLITE_OPEN_TEMP_DB |
          SQLITE_OPEN_TEMP_JOURNAL | SQLITE_OPEN_TRANSIENT_DB | SQLITE_OPEN_SUBJOURNAL |
          SQLITE_OPEN_SUPER_JOURNAL | SQLITE_OPEN_WAL
};

static sqlite3_vfs *real_vfs;
static shim_before before_hook;
static shim_after after_hook;
static void *hook_context;

void shim_watch(shim_before before, shim_after after, void *context) {
  before_hook = before;
  after_hook = after;
  hook_context = context;
}

static shim_verdict before(const shim_call *call) {
  if (before_hook) return before_hook(hook_context, call);
  return (shim_verdict){SQLITE_OK, 0};
}

static int after(const shim_call *call, int code) {
  if (after_hook) after_hook(hook_context, call, code);
  return code;
}

static shim_call call_of(sqlite3_file *file, shim_operation operation) {
  File *shim = (File *)file;
  return (shim_call){
      .operation = operation, .path = shim->path ? shim->path : "", .kind = shim->kind,
      .file = file};
}

/// Lets the hooks see CALL around the expression of the real call, and returns its result.
#define PASS(CALL, EXPRESSION)                                \
  do {                                                        \
    shim_verdict verdict = before(&(CALL));                   \
    if (verdict.code != SQLITE_OK) return after(&(CALL), verdict.code); \
    return after(&(CALL), (EXPRESSION));                      \
  } while (0)

static sqlite3_file *real(sqlite3_file *file) { return ((File *)file)->real; }
#define METHODS(FILE) (real(FILE)->pMethods)

static int do_close(sqlite3_file *file) {
  shim_call call = call_of(file, shim_close);
  before(&call);
  return after(&call, METHODS(file)->xClose(real(file)));
}

static int do_read(sqlite3_file *file, void *data, int count, sqlite3_int64 offset) {
  shim_call call = call_of(file, shim_read);
  call.offset = offset;
  call.count = count;
  shim_verdict verdict = before(&call);
  if (verdict.code == SQLITE_OK) {
    return after(&call, METHODS(file)->xRead(real(file), data, count, offset));
  }
  // SQLite asks that what is missing reads as zeros.
  memset(data, 0, count);
  if (verdict.partial > 0) METHODS(file)->xRead(real(file), data, verdict.partial, offset);
  return after(&call, verdict.code);
}

static int do_write(sqlite3_file *file, const void *data, int count, sqlite3_int64 offset) {
  shim_call call = call_of(file, shim_write);
  call.offset = offset;
  call.count = count;
  call.data = data;
  shim_verdict verdict = before(&call);
  if (verdict.code == SQLITE_OK) {
    return after(&call, METHODS(file)->xWrite(real(file), data, count, offset));
  }
  if (verdict.partial > 0) METHODS(file)->xWrite(real(file), data, verdict.partial, offset);
  return after(&call, verdict.code);
}

static int do_truncate(sqlite3_file *file, sqlite3_int64 size) {
  shim_call call = call_of(file, shim_truncate);
  call.offset = size;
  PASS(call, METHODS(file)->xTruncate(real(file), size));
}

static int do_sync(sqlite3_file *file, int flags) {
  shim_call call = call_of(file, shim_sync);
  call.argument = flags;
  PASS(call, METHODS(file)->xSync(real(file), flags));
}

static int do_size(sqlite3_file *file, sqlite3_int64 *size) {
  shim_call call = call_of(file, shim_size);
  PASS(call, METHODS(file)->xFileSize(real(file), size));
}

static int do_lock(sqlite3_file *file, int level) {
  shim_call call = call_of(file, shim_lock);
  call.argument = level;
  PASS(call, METHODS(file)->xLock(real(file), level));
}

static int do_unlock(sqlite3_file *file, int level) {
  shim_call call = call_of(file, shim_unlock);
  call.argument = level;
  PASS(call, METHODS(file)->xUnlock(real(file), level));
}

static int do_check_lock(sqlite3_file *file, int *is_reserved) {
  shim_call call = call_of(file, shim_check_lock);
  PASS(call, METHODS(file)->xCheckReservedLock(real(file), is_reserved));
}

static int do_control(sqlite3_file *file, int code, void *data) {
  shim_call call = call_of(file, shim_control);
  call.argument = code;
  PASS(call, METHODS(file)->xFileControl(real(file), code, data));
}

static int do_sector(sqlite3_file *file) { return METHODS(file)->xSectorSize(real(file)); }

static int do_device(sqlite3_file *file) {
  return METHODS(file)->xDeviceCharacteristics(real(file));
}

static int do_shm_map(sqlite3_file *file, int region, int size, int extend, void volatile **data) {
  shim_call call = call_of(file, shim_shm_map);
  call.offset = region;
  call.count = size;
  call.argument = extend;
  PASS(call, METHODS(file)->xShmMap(real(file), region, size, extend, data));
}

static int do_shm_lock(sqlite3_file *file, int offset, int count, int flags) {
  shim_call call = call_of(file, shim_shm_lock);
  call.offset = offset;
  call.count = count;
  call.argument = flags;
  PASS(call, METHODS(file)->xShmLock(real(file), offset, count, flags));
}

static void do_shm_barrier(sqlite3_file *file) {
  shim_call call = call_of(file, shim_shm_barrier);
  before(&call);
  METHODS(file)->xShmBarrier(real(file));
  after(&call, SQLITE_OK);
}

static int do_shm_unmap(sqlite3_file *file, int deletes) {
  shim_call call = call_of(file, shim_shm_unmap);
  call.argument = deletes;
  PASS(call, METHODS(file)->xShmUnmap(real(file), deletes));
}

static int do_fetch(sqlite3_file *file, sqlite3_int64 offset, int count, void **data) {
  shim_call call = call_of(file, shim_fetch);
  call.offset = offset;
  call.count = count;
  *data = NULL;
  PASS(call, METHODS(file)->xFetch(real(file), offset, count, data));
}

static int do_unfetch(sqlite3_file *file, sqlite3_int64 offset, void *data) {
  shim_call call = call_of(file, shim_unfetch);
  call.offset = offset;
  PASS(call, METHODS(file)->xUnfetch(real(file), offset, data));
}

static const sqlite3_io_methods methods = {
    .iVersion = 3,
    .xClose = do_close,
    .xRead = do_read,
    .xWrite = do_write,
    .xTruncate = do_truncate,
    .xSync = do_sync,
    .xFileSize = do_size,
    .xLock = do_lock,
    .xUnlock = do_unlock,
    .xCheckReservedLock = do_check_lock,
    .xFileControl = do_control,
    .xSectorSize = do_sector,
    .xDeviceCharacteristics = do_device,
    .xShmMap = do_shm_map,
    .xShmLock = do_shm_lock,
    .xShmBarrier = do_shm_barrier,
    .xShmUnmap = do_shm_unmap,
    .xFetch = do_fetch,
    .xUnfetch = do_unfetch,
};

static int do_open(sqlite3_vfs *vfs, const char *path, sqlite3_file *file, int flags, int *out) {
  (void)vfs;
  File *shim = (File *)file;
  memset(shim, 0, sizeof *shim + real_vfs->szOsFile);
  // SQLite keeps the path as long as the file is open; a temporary file has none.
  shim->path = path;
  shim->kind = flags & kinds;
  shim->real = (sqlite3_file *)(shim + 1);
  shim_call call = call_of(file, shim_open);
  call.argument = flags;
  shim_verdict verdict = before(&call);
  if (verdict.code != SQLITE_OK) return after(&call, verdict.code);
  int code = real_vfs->xOpen(real_vfs, path, shim->real, flags, out);
  // SQLite closes a file only where it finds methods.
  if (shim->real->pMethods) shim->base.pMethods = &methods;
  return after(&call, code);
}

static int do_delete(sqlite3_vfs *vfs, const char *path, int syncs) {
  (void)vfs;
  shim_call call = {.operation = shim_delete, .path = path, .argument = syncs};
  PASS(call, real_vfs->xDelete(real_vfs, path, syncs));
}

static int do_access(sqlite3_vfs *vfs, const char *path, int flags, int *result) {
  (void)vfs;
  shim_call call = {.operation = shim_access, .path = path, .argument = flags};
  PASS(call, real_vfs->xAccess(real_vfs, path, flags, result));
}

int shim_install(void) {
  static sqlite3_vfs vfs;
  if (real_vfs) return SQLITE_OK;
  real_vfs = sqlite3_vfs_find("unix");
  if (real_vfs == NULL) return SQLITE_ERROR;
  vfs = *real_vfs;
  // By the same name: an attached file asks for it.
  vfs.szOsFile = (int)sizeof(File) + real_vfs->szOsFile;
  vfs.xOpen = do_open;
  vfs.xDelete = do_delete;
  vfs.xAccess = do_access;
  vfs.pNext = NULL;
  return sqlite3_vfs_register(&vfs, 1);
}
