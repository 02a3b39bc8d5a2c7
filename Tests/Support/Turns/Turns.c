// SPDX-License-Identifier: Apache-2.0
//
// Only the actor that has the turn changes what is shared, so there is no lock: the semaphore by
// which it gives the turn to the next one orders everything.

#define _GNU_SOURCE
#include "Turns.h"

#include <dlfcn.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#if defined(__has_feature)
#if __has_feature(thread_sanitizer)
// It sees neither what is in place of its own functions, nor a turn that came by way of another
// process.
void __tsan_acquire(void *address);
void __tsan_release(void *address);
#define ACQUIRE(SEMAPHORE) __tsan_acquire(SEMAPHORE)
#define RELEASE(SEMAPHORE) __tsan_release(SEMAPHORE)
#endif
#endif
#ifndef ACQUIRE
#define ACQUIRE(SEMAPHORE) (void)(SEMAPHORE)
#define RELEASE(SEMAPHORE) (void)(SEMAPHORE)
#endif

enum { most_changes = 4 };

struct turns {
  sem_t turn[turns_most_actors];
  int actors;
  uint64_t random;
  bool is_walk;
  /// Of a walk: one step in so many goes to another process.
  int stay;
  bool has_left[turns_most_actors];
  int priority[turns_most_actors];
  int lowest;
  struct {
    bool is_rare;
    int at;
  } change[most_changes];
  int acknowledged[turns_most_actors];
  int steps;
  int rare_steps;
  uint64_t trace;
};

static __thread turns *mine;
static __thread int me;
static __thread bool takes_turns;

/// SplitMix64.
static uint64_t next_random(turns *turns) {
  uint64_t z = (turns->random += 0x9E3779B97F4A7C15);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
  return z ^ (z >> 31);
}

static int below(turns *turns, int limit) { return (int)(next_random(turns) % (uint64_t)limit); }

turns *turns_map(void) {
  void *memory = mmap(
      NULL, sizeof(turns), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

void turns_prepare(turns *turns, int actors, uint64_t seed, int steps) {
  *turns = (struct turns){.actors = actors, .random = seed, .is_walk = seed & 1, .trace = seed};
  turns->stay = 2 << below(turns, 5);
  for (int i = 0; i < actors; i++) {
    sem_init(&turns->turn[i], 1, 0);
    // A random order: each goes in somewhere among those before it.
    int place = below(turns, i + 1);
    for (int j = 0; j < i; j++) turns->priority[j] += turns->priority[j] >= place;
    turns->priority[i] = place;
  }
  for (int i = 0; i < most_changes; i++) {
    bool is_rare = below(turns, 2) == 0;
    turns->change[i].is_rare = is_rare;
    turns->change[i].at = 1 + below(turns, is_rare ? steps / 10 : steps);
  }
}

int turns_fork(void) {
  int id = fork();
  // A lock that another thread of its parent had, nobody gives back in the child: it then ends by
  // SIGALRM, in place of a wait without end.
  if (id == 0) alarm(60);
  return id;
}

struct call {
  void (*body)(void *);
  void *context;
};

static void *make_call(void *pointer) {
  struct call *call = pointer;
  call->body(call->context);
  return NULL;
}

void turns_on_new_thread(void (*body)(void *), void *context) {
  struct call call = {body, context};
  pthread_t thread;
  if (pthread_create(&thread, NULL, make_call, &call) == 0) pthread_join(thread, NULL);
}

struct part {
  void (*body)(void *, int);
  void *context;
  int actor;
  pthread_t thread;
};

static void *play_part(void *pointer) {
  struct part *part = pointer;
  part->body(part->context, part->actor);
  return NULL;
}

bool turns_on_threads(int first, int count, void (*body)(void *, int), void *context) {
  struct part parts[turns_most_actors];
  for (int i = 0; i < count; i++) {
    parts[i] = (struct part){body, context, first + i};
    if (pthread_create(&parts[i].thread, NULL, play_part, &parts[i]) != 0) return false;
  }
  for (int i = 0; i < count; i++) pthread_join(parts[i].thread, NULL);
  return true;
}

static bool changes_here(const turns *turns, bool is_rare) {
  for (int i = 0; i < most_changes; i++) {
    int now = turns->change[i].is_rare ? turns->rare_steps : turns->steps;
    if (turns->change[i].at == now && (is_rare || !turns->change[i].is_rare)) return true;
  }
  return false;
}

static int choose(turns *turns, int current, bool waits, bool is_rare) {
  int others[turns_most_actors], count = 0;
  for (int i = 0; i < turns->actors; i++) {
    if (!turns->has_left[i] && i != current) others[count++] = i;
  }
  bool is_there = current >= 0 && !turns->has_left[current];
  if (count == 0) return is_there ? current : -1;
  if (turns->is_walk) {
    bool goes = !is_there || waits || below(turns, turns->stay) == 0;
    return goes ? others[below(turns, count)] : current;
  }
  if (is_there) {
    if (waits || changes_here(turns, is_rare)) turns->priority[current] = --turns->lowest;
  }
  int best = is_there ? current : others[0];
  for (int i = 0; i < count; i++) {
    if (turns->priority[others[i]] > turns->priority[best]) best = others[i];
  }
  return best;
}

/// FNV-1a.
static void note(turns *turns, int what) {
  turns->trace = (turns->trace ^ (uint64_t)(me << 8 | what)) * 0x100000001B3;
  turns->steps++;
}

static void wait_for(sem_t *turn) {
  while (sem_wait(turn) != 0) {}
  ACQUIRE(mine);
}

static void give_to(sem_t *turn) {
  RELEASE(mine);
  sem_post(turn);
}

void turns_join(turns *turns, int actor) {
  mine = turns;
  me = actor;
  takes_turns = true;
  wait_for(&turns->turn[actor]);
}

void turns_begin(turns *turns) { sem_post(&turns->turn[choose(turns, -1, false, false)]); }

void turns_yield(int what, bool is_rare) {
  if (!takes_turns) return;
  note(mine, what);
  mine->rare_steps += is_rare;
  int next = choose(mine, me, what == turns_wait, is_rare);
  if (next == me) return;
  give_to(&mine->turn[next]);
  wait_for(&mine->turn[me]);
}

void turns_leave(void) {
  note(mine, 0);
  takes_turns = false;
  mine->has_left[me] = true;
  int next = choose(mine, me, false, false);
  if (next >= 0) give_to(&mine->turn[next]);
}

void turns_acknowledge(int count) { mine->acknowledged[me] = count; }

int turns_acknowledged(const turns *turns, int actor) {
  return (turns ? turns : mine)->acknowledged[actor];
}

uint64_t turns_trace(const turns *turns) { return turns->trace; }

int turns_steps(const turns *turns) { return turns->steps; }

/// In place of the system's, for this program and what it links: whoever waits for another process
/// lets it go on, and loses no time.
int usleep(useconds_t microseconds) {
  if (takes_turns) {
    turns_yield(turns_wait, false);
    return 0;
  }
  struct timespec time = {microseconds / 1000000, (long)(microseconds % 1000000) * 1000};
  return nanosleep(&time, NULL);
}

/// libdispatch's DISPATCH_TIME_NOW and DISPATCH_TIME_FOREVER.
static const uint64_t now = 0, forever = UINT64_MAX;

/// The last semaphores for which actors have waited: libdispatch has some for its own threads, to
/// which it signals or not as these happen to be there.
static void *semaphores[64];
static unsigned semaphore_count;

static bool is_of_actors(void *semaphore) {
  for (int i = 0; i < 64; i++) {
    if (semaphores[i] == semaphore) return true;
  }
  return false;
}

/// In place of libdispatch's, as above: a thread that waits for another of its process lets all go
/// on. One that waits for a limited time does so, with the turn.
intptr_t dispatch_semaphore_wait(void *semaphore, uint64_t timeout) {
  intptr_t (*real)(void *, uint64_t) = dlsym(RTLD_NEXT, "dispatch_semaphore_wait");
  if (takes_turns && !is_of_actors(semaphore)) semaphores[semaphore_count++ % 64] = semaphore;
  bool spins = takes_turns && timeout == forever;
  intptr_t result;
  while ((result = real(semaphore, spins ? now : timeout)) != 0 && spins) {
    turns_yield(turns_wait, false);
  }
  if (result == 0) ACQUIRE(semaphore);
  return result;
}

/// In place of libdispatch's: whoever was woken may go on at once.
intptr_t dispatch_semaphore_signal(void *semaphore) {
  intptr_t (*real)(void *) = dlsym(RTLD_NEXT, "dispatch_semaphore_signal");
  RELEASE(semaphore);
  // It may be gone when it was signalled.
  bool yields = takes_turns && is_of_actors(semaphore);
  intptr_t result = real(semaphore);
  if (yields) turns_yield(turns_wake, true);
  return result;
}

/// In place of the system's, as above.
int sched_yield(void) {
  int (*real)(void) = dlsym(RTLD_NEXT, "sched_yield");
  if (!takes_turns) return real();
  turns_yield(turns_wait, false);
  return 0;
}
