// SPDX-License-Identifier: Apache-2.0

#include "FolderCalls.h"

#include <stddef.h>

static shim_named named_hook;
static void *hook_context;
static int ignores_syncs;

void shim_watch_names(shim_named named, void *context) {
  named_hook = named;
  hook_context = context;
}

void shim_ignore_syncs(void) { ignores_syncs = 1; }

#ifdef __linux__

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

// A program's own functions come before those of the C library that have their names, for it and
// for every library that it loads.

static int tell(int result, shim_naming naming, const char *path, const char *other) {
  if (result == 0 && named_hook) named_hook(hook_context, naming, path, other);
  return result;
}

static int sync_file(long number, int descriptor) {
  int result = ignores_syncs ? 0 : (int)syscall(number, descriptor);
  struct stat status;
  if (result != 0 || !named_hook) return result;
  if (fstat(descriptor, &status) != 0 || !S_ISDIR(status.st_mode)) return result;
  char link[64], path[PATH_MAX];
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  ssize_t count = readlink(link, path, sizeof path - 1);
  if (count < 0) return result;
  path[count] = 0;
  return tell(result, shim_sync_folder, path, NULL);
}

int link(const char *path, const char *other) {
  int result = (int)syscall(SYS_linkat, AT_FDCWD, path, AT_FDCWD, other, 0);
  return tell(result, shim_link, path, other);
}

int rename(const char *path, const char *other) {
  int result = (int)syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, other, 0);
  return tell(result, shim_rename, path, other);
}

int unlink(const char *path) {
  return tell((int)syscall(SYS_unlinkat, AT_FDCWD, path, 0), shim_unlink, path, NULL);
}

int fsync(int descriptor) { return sync_file(SYS_fsync, descriptor); }
int fdatasync(int descriptor) { return sync_file(SYS_fdatasync, descriptor); }

#endif
