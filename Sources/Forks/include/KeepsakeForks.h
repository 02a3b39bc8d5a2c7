// SPDX-License-Identifier: Apache-2.0

#ifndef KEEPSAKE_FORKS_H
#define KEEPSAKE_FORKS_H

/// Not to be written elsewhere.
extern int keepsake_fork_count;

/// How many calls of fork(2) have made this process since the program began. Each child has one
/// more than its parent. Inline, because a read of a setting asks for it.
static inline int keepsake_forks(void) { return keepsake_fork_count; }

#endif
