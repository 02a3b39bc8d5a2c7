// SPDX-License-Identifier: Apache-2.0

#ifndef KEEPSAKE_FILE_SYSTEM_H
#define KEEPSAKE_FILE_SYSTEM_H

#include <stddef.h>

/// Makes a file system known to SQLite: its own for Unix, but a read that the system fails is told
/// as one (SQLITE_IOERR_READ).
///
/// SQLite tells EIO by a code of its own (SQLITE_IOERR_CORRUPTFS), which a statement ends with as
/// SQLITE_CORRUPT: a disk that cannot be read would pass for a damaged file. So is a read of a
/// database that ends before the file does, which SQLite would fill with zeros.
///
/// - Returns: what an address calls it by (`vfs=`).
const char *_Nonnull keepsake_register_file_system(void);

struct sqlite3;

/// Decides whether the write-ahead log stays when a connection closes, also if it is the last one,
/// which would move it into the file and remove it. Here because Swift has no variadic functions of C.
/// https://www.sqlite.org/c3ref/c_dbconfig_defensive.html (SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE)
void keepsake_keep_log(struct sqlite3 *_Nullable connection, int keeps);

/// How many reads of this thread the system has failed: to SQLite's integrity_check a page that
/// could not be read is a damaged one.
unsigned keepsake_read_failures(void);

/// Gives a file another name, unless that is taken. Here because Swift does not import glibc's.
///
/// - Returns: 0, or -1 with the reason in errno.
int keepsake_rename_exclusively(const char *_Nonnull path, const char *_Nonnull target);

#endif
