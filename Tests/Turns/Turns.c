// SPDX-License-Identifier: Apache-2.0
//
// Only the process that has the turn changes what is shared, so there is no lock: the semaphore by
// which it gives the turn to the next one orders everything.

#define _GNU_SOURCE
#include "Turns.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

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

static turns *mine;
static int me;
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
  sem_post(&mine->turn[next]);
  wait_for(&mine->turn[me]);
}

void turns_leave(void) {
  note(mine, 0);
  takes_turns = false;
  mine->has_left[me] = true;
  int next = choose(mine, me, false, false);
  if (next >= 0) sem_post(&mine->turn[next]);
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
