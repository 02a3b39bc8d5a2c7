// SPDX-License-Identifier: Apache-2.0

#include "KeepsakeForks.h"

#include <pthread.h>

int keepsake_fork_count = 0;

/// In the child, before fork(2) returns: it has one thread, so there is no race.
static void count_fork(void) { keepsake_fork_count++; }

/// When the program is loaded, before anything can be opened. posix_spawn(3) and what starts other
/// programs by it do not call these.
__attribute__((constructor)) static void count_forks(void) {
  pthread_atfork(NULL, NULL, count_fork);
}
