// SPDX-License-Identifier: Apache-2.0
//
// The system's SQLite, and the parts of it that Swift cannot import.

#ifndef KEEPSAKE_SQLITE_H
#define KEEPSAKE_SQLITE_H

#include <sqlite3.h>

/// Reads text in double quotes only as a name, so that a misspelt name is an error.
static inline int keepsake_refuse_double_quoted_text(sqlite3 *database) {
  int code = sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DDL, 0, (int *)0);
  return code != SQLITE_OK ? code : sqlite3_db_config(database, SQLITE_DBCONFIG_DQS_DML, 0, (int *)0);
}

// Macros that Swift cannot import.
static const int keepsake_ioerr_read = SQLITE_IOERR_READ;
static const int keepsake_ioerr_nomem = SQLITE_IOERR_NOMEM;
static const int keepsake_ioerr_shmsize = SQLITE_IOERR_SHMSIZE;

#endif
