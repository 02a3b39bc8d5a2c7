// SPDX-License-Identifier: Apache-2.0

#include "FolderCalls.h"

#include <stddef.h>

static shim_names names_hook;
static shim_named named_hook;
static void *hook_context;
static int ignores_syncs;

void shim_watch_names(shim_names names, shim_named named, void *context) {
  names_hook = names;
  named_hook = named;
  hook_context = context;
}

void shim_ignore_syncs(void) { ignores_syncs = 1; }

#ifdef __linux__

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// A program's own functions come before those of the C library that have their names, for it and
// for every library that it loads.

static int refuse(shim_naming naming, const char *path, const char *other) {
  int code = names_hook ? names_hook(hook_context, naming, path, other) : 0;
  if (code == 0) return 0;
  errno = code;
  return -1;
}

static int tell(int result, shim_naming naming, const char *path, const char *other) {
  if (result == 0 && named_hook) named_hook(hook_context, naming, path, other);
  return result;
}

/// The path of a folder; false for what is no folder.
static int is_folder(int descriptor, char path[PATH_MAX]) {
  struct stat status;
  if (fstat(descriptor, &status) != 0 || !S_ISDIR(status.st_mode)) return 0;
  char link[64];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t count = readlink(link, path, PATH_MAX - 1);
  if (count < 0) return 0;
  path[count] = 0;
  return 1;
}

static int sync_file(long number, int descriptor) {
  char path[PATH_MAX];
  int watched = (names_hook || named_hook) && is_folder(descriptor, path);
  if (watched && refuse(shim_sync_folder, path, NULL) != 0) return -1;
  int result = ignores_syncs ? 0 : (int)syscall(number, descriptor);
  return watched ? tell(result, shim_sync_folder, path, NULL) : result;
}

int link(const char *path, const char *other) {
  if (refuse(shim_link, path, other) != 0) return -1;
  int result = (int)syscall(SYS_linkat, AT_FDCWD, path, AT_FDCWD, other, 0);
  return tell(result, shim_link, path, other);
}

int rename(const char *path, const char *other) {
  if (refuse(shim_rename, path, other) != 0) return -1;
  int result = (int)syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, other, 0);
  return tell(result, shim_rename, path, other);
}

int unlink(const char *path) {
  if (refuse(shim_unlink, path, NULL) != 0) return -1;
  return tell((int)syscall(SYS_unlinkat, AT_FDCWD, path, 0), shim_unlink, path, NULL);
}

int mkdir(const char *path, mode_t mode) {
  if (refuse(shim_make_folder, path, NULL) != 0) return -1;
  int result = (int)syscall(SYS_mkdirat, AT_FDCWD, path, mode);
  return tell(result, shim_make_folder, path, NULL);
}

int fsync(int descriptor) { return sync_file(SYS_fsync, descriptor); }
int fdatasync(int descriptor) { return sync_file(SYS_fdatasync, descriptor); }

#endif
