// SPDX-License-Identifier: Apache-2.0
//
// Lets one of several processes go on at a time, and decides by a seed which: at each call of
// SQLite's that others could notice, and wherever one would sleep. What a schedule does depends on
// its seed alone, so that it can be played again.
#pragma once

#include <stdbool.h>
#include <stdint.h>

/// In memory that processes share.
typedef struct turns turns;

/// How many processes may take turns.
enum { turns_most_actors = 8 };

/// What a process did at a step of which others take notice: a call, or a wait in place of a sleep.
enum { turns_wait = 255 };

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

/// In a new process: waits for its first turn. Its other threads take no turns.
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
