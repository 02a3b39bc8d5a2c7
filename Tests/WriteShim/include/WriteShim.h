// SPDX-License-Identifier: Apache-2.0
//
// A layer over SQLite's own file system that watches who writes into a database file: only a
// connection of this process may, while one of them holds the write lock of the log, or under the
// file's exclusive lock (the last one that closes, and files without a log).
#pragma once

/// Takes the place of SQLite's file system for all files that are opened from now on.
int write_shim_install(void);

/// How many pages were written into files that others could have written to, and how many in all.
int write_shim_unlocked(void);
int write_shim_writes(void);

/// How many checkpoints were begun; those of the last connection to close are not among them.
int write_shim_checkpoints(void);

/// Is called at the next page that a checkpoint writes, once.
void write_shim_at_next_write(void (*hook)(void *), void *context);
