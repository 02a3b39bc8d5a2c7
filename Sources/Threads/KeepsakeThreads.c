// SPDX-License-Identifier: Apache-2.0

#include "KeepsakeThreads.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

_Thread_local unsigned keepsake_own_number = 0;

static atomic_uint last = 0;

unsigned keepsake_number_thread(void) {
  // Never 0, also after 2^32 threads, when numbers are given again.
  do {
    keepsake_own_number = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
  } while (keepsake_own_number == 0);
  return keepsake_own_number;
}

struct keepsake_reader_place keepsake_reader_counts[keepsake_reader_places];

static pthread_mutex_t retired = PTHREAD_MUTEX_INITIALIZER;

void keepsake_lock_retired(void) { pthread_mutex_lock(&retired); }

void keepsake_unlock_retired(void) { pthread_mutex_unlock(&retired); }

/// In the child, before fork(2) returns: it has one thread, so there is no race.
static void forget_readers(void) {
  memset(keepsake_reader_counts, 0, sizeof keepsake_reader_counts);
  keepsake_unlock_retired();
}

/// When the program is loaded, before anything is read.
__attribute__((constructor)) static void follow_forks(void) {
  pthread_atfork(keepsake_lock_retired, keepsake_unlock_retired, forget_readers);
}
