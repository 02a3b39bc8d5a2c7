// SPDX-License-Identifier: Apache-2.0

#include "threads.h"

#include <stdatomic.h>

_Thread_local unsigned keepsake_own_number = 0;

_Thread_local int keepsake_own_turns = 0;

static atomic_uint last = 0;

unsigned keepsake_number_thread(void) {
  // Never 0, even after 2^32 threads, when the numbers begin again.
  do {
    keepsake_own_number = atomic_fetch_add_explicit(&last, 1, memory_order_relaxed) + 1;
  } while (keepsake_own_number == 0);
  return keepsake_own_number;
}

struct keepsake_reader_place keepsake_reader_counts[keepsake_reader_places];
