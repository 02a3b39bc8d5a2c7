// SPDX-License-Identifier: Apache-2.0

#ifndef KEEPSAKE_FILE_SYSTEM_H
#define KEEPSAKE_FILE_SYSTEM_H

/// Makes a file system known to SQLite: its own for Unix, but a read that the system fails is told
/// as one (SQLITE_IOERR_READ).
///
/// SQLite tells EIO by a code of its own (SQLITE_IOERR_CORRUPTFS), which a statement ends with as
/// SQLITE_CORRUPT: a disk that cannot be read would pass for a damaged file. So is a read of a
/// database that ends before the file does, which SQLite would fill with zeros.
///
/// - Returns: what an address calls it by (`vfs=`).
const char *_Nonnull keepsake_register_file_system(void);

#endif
