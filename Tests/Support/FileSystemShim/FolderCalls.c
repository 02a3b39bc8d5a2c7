// SPDX-License-Identifier: Apache-2.0

#ifdef __linux__
#define _GNU_SOURCE
#endif

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

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

// A program's own functions come before those of the C library that have their names, for it and
// for every library that it loads. They call the next ones, which may be those of a library that
// was loaded before the others.

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

static int sync_file(const char *name, int descriptor) {
  char path[PATH_MAX];
  int watched = (names_hook || named_hook) && is_folder(descriptor, path);
  if (watched && refuse(shim_sync_folder, path, NULL) != 0) return -1;
  int (*next)(int) = dlsym(RTLD_NEXT, name);
  int result = ignores_syncs ? 0 : next(descriptor);
  return watched ? tell(result, shim_sync_folder, path, NULL) : result;
}

int link(const char *path, const char *other) {
  if (refuse(shim_link, path, other) != 0) return -1;
  int (*next)(const char *, const char *) = dlsym(RTLD_NEXT, "link");
  int result = next(path, other);
  return tell(result, shim_link, path, other);
}

int rename(const char *path, const char *other) {
  if (refuse(shim_rename, path, other) != 0) return -1;
  int (*next)(const char *, const char *) = dlsym(RTLD_NEXT, "rename");
  int result = next(path, other);
  return tell(result, shim_rename, path, other);
}

int unlink(const char *path) {
  if (refuse(shim_unlink, path, NULL) != 0) return -1;
  int (*next)(const char *) = dlsym(RTLD_NEXT, "unlink");
  return tell(next(path), shim_unlink, path, NULL);
}

int mkdir(const char *path, mode_t mode) {
  if (refuse(shim_make_folder, path, NULL) != 0) return -1;
  int (*next)(const char *, mode_t) = dlsym(RTLD_NEXT, "mkdir");
  int result = next(path, mode);
  return tell(result, shim_make_folder, path, NULL);
}

int fsync(int descriptor) { return sync_file("fsync", descriptor); }
int fdatasync(int descriptor) { return sync_file("fdatasync", descriptor); }

#endif
