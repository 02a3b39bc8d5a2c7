// SPDX-License-Identifier: Apache-2.0
//
// measure OUTPUT COMMAND...: runs a command with its standard output in a file, and prints the
// nanoseconds it took and the bytes it had in memory at most. In C, since Linux counts as the
// memory of a process what its parent had when it started it, and this one has next to nothing.

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

int main(int count, char **words) {
  if (count < 3) return 64;
  long long start = now();
  pid_t child = fork();
  if (child == 0) {
    int output = open(words[1], O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (output < 0 || dup2(output, 1) < 0) _exit(126);
    execv(words[2], words + 2);
    _exit(127);
  }
  int status;
  struct rusage usage;
  if (child < 0 || wait4(child, &status, 0, &usage) != child) return 1;
  long long time = now() - start;
  printf("%lld %lld\n", time, usage.ru_maxrss * 1024LL);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
