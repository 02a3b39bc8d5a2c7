// SPDX-License-Identifier: Apache-2.0

#ifndef KEEPSAKE_THREADS_H
#define KEEPSAKE_THREADS_H

/// Not to be used elsewhere; 0 if the thread has no number yet.
extern _Thread_local unsigned keepsake_own_number;

/// Assigns this thread its number.
unsigned keepsake_number_thread(void);

/// The number of this thread, from 1 in the order of their first calls, so that the threads of a
/// program differ in its lowest bits, which no hash of an address can promise. Inline, because each
/// read of a setting calls it.
static inline unsigned keepsake_thread_number(void) {
  unsigned number = keepsake_own_number;
  return number != 0 ? number : keepsake_number_thread();
}

/// Not to be used elsewhere.
extern _Thread_local int keepsake_own_turns;

/// The number of connections that this thread is using.
static inline int keepsake_turns(void) { return keepsake_own_turns; }

static inline void keepsake_begin_turn(void) { keepsake_own_turns += 1; }

static inline void keepsake_end_turn(void) { keepsake_own_turns -= 1; }

/// The number of counts of readers.
enum { keepsake_reader_places = 32 };

/// A count in cache lines of its own: 128 bytes, which processors fetch together.
struct keepsake_reader_place {
  _Alignas(128) long count;
};

/// Not to be used elsewhere.
extern struct keepsake_reader_place keepsake_reader_counts[keepsake_reader_places];

/// A count of readers, to be changed atomically. Inline, because each read of a setting calls it.
static inline void *keepsake_reader_count(unsigned place) {
  return &keepsake_reader_counts[place % keepsake_reader_places].count;
}

#endif
