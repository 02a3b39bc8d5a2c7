// SPDX-License-Identifier: Apache-2.0
//
// Lets one of several actors go on at a time, processes or threads of one, and decides by a seed
// which: at each call of SQLite's that others could notice, wherever one would sleep or wait for a
// thread, and where it wakes one. What a schedule does depends on its seed alone, so that it can be
// played again.
//
// A thread that waits in another way than by a semaphore of libdispatch keeps the turn, and stops
// all: so no actor may have a lock while it makes such a call.
#pragma once

#include <stdbool.h>
#include <stdint.h>

/// In memory that processes share.
typedef struct turns turns;

/// How many actors may take turns.
enum { turns_most_actors = 10 };

/// What an actor did at a step of which others take notice: a call, or a wait in place of a sleep
/// or for another thread, which it may also wake.
enum { turns_wake = 254, turns_wait = 255 };

/// - Returns: NULL where the system has no such memory.
turns *turns_map(void);

/// Before the processes of a schedule are made.
///
/// - Parameters:
///   - actors: how many there will be.
///   - seed: of the schedule. Even ones give priorities that change at a few random steps (PCT:
///     Burckhardt et al., "A Randomized Scheduler with Probabilistic Guarantees of Finding Bugs",
///     ASPLOS 2010), odd ones a random walk. Half of those steps are among the rare ones.
///   - steps: about how many the schedule will have.
void turns_prepare(turns *turns, int actors, uint64_t seed, int steps);

/// fork(2), which Swift does not offer: the parent has one thread, and no file open.
int turns_fork(void);

/// Runs a function on a new thread, and waits for its end. A process that was made by fork needs
/// that for all that is Swift: the locks of Swift's runtime keep the number of the thread that they
/// are on, and the one that forked has its parent's there, so that it would wait for itself.
void turns_on_new_thread(void (*body)(void *), void *context);

/// Runs a function on as many new threads of this process, each with the number of its actor, and
/// waits for their end.
///
/// - Returns: false when the system makes no such threads.
bool turns_on_threads(int first, int count, void (*body)(void *, int), void *context);

/// On a thread of a new process: waits for its first turn. Threads without that take no turns.
void turns_join(turns *turns, int actor);

/// In the parent: gives the first turn.
void turns_begin(turns *turns);

/// By an actor: lets the next one go on, which may be itself. By others: nothing.
///
/// - Parameter is_rare: whether few steps are like this, of those that matter: one in ten.
void turns_yield(int what, bool is_rare);

/// By an actor: this many of its writes have been acknowledged.
void turns_acknowledge(int count);

/// By an actor, as the last thing.
void turns_leave(void);

/// What an actor has had acknowledged.
///
/// - Parameter turns: NULL for an actor's own.
int turns_acknowledged(const turns *turns, int actor);

/// A number for the whole course of a schedule, and how many steps it had.
uint64_t turns_trace(const turns *turns);
int turns_steps(const turns *turns);
