// SPDX-License-Identifier: Apache-2.0

#ifndef KEEPSAKE_FILE_SYSTEM_H
#define KEEPSAKE_FILE_SYSTEM_H

#include <stddef.h>

/// Registers a file system with SQLite: its own for Unix, but reads that the system fails are
/// reported as SQLITE_IOERR_READ.
///
/// SQLite itself reports EIO as SQLITE_IOERR_CORRUPTFS, which a statement turns into
/// SQLITE_CORRUPT: an unreadable disk would pass for a damaged file. A read within a database that
/// returns too few bytes is reported, too; SQLite would fill it with zeros.
///
/// - Returns: its name for the parameter `vfs=` of an address.
const char *_Nonnull keepsake_register_file_system(void);

struct sqlite3;

/// Sets whether the write-ahead log stays when the last connection closes, which would otherwise
/// move it into the file and remove it. In C, because Swift imports no variadic functions.
/// https://www.sqlite.org/c3ref/c_dbconfig_defensive.html (SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE)
void keepsake_keep_log(struct sqlite3 *_Nullable connection, int keeps);

/// The number of reads on this thread that the system has failed. SQLite's integrity_check reports
/// a page that could not be read as damaged.
unsigned keepsake_read_failures(void);

/// Renames a file, unless the target exists. In C, because Swift does not import glibc's function.
///
/// - Returns: 0, or -1 with the reason in errno.
int keepsake_rename_exclusively(const char *_Nonnull path, const char *_Nonnull target);

#endif
