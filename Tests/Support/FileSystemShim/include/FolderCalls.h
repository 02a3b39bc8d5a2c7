// SPDX-License-Identifier: Apache-2.0
//
// What this process does to names in folders, and its syncs: SQLite's calls, which its file system
// does not show, and our own. On Linux alone.
#pragma once

typedef enum {
  shim_link,
  shim_rename,
  shim_unlink,
  shim_make_folder,
  shim_sync_folder
} shim_naming;

/// Is called before each call, on the thread that makes it. With another result than 0 the call is
/// not made, and that is its errno.
typedef int (*shim_names)(
    void *context, shim_naming naming, const char *path, const char *other);

/// Is called after each call that succeeded, on the thread that made it.
///
/// PATH is the folder, or the file's name before; OTHER is its new name, or NULL.
typedef void (*shim_named)(
    void *context, shim_naming naming, const char *path, const char *other);

/// What sees the calls from now on; NULL, both of them too, for nothing.
void shim_watch_names(shim_names names, shim_named named, void *context);

/// Does not wait for the disk from now on, but says so: what is done here need not outlive the
/// machine.
void shim_ignore_syncs(void);
