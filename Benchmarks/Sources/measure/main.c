// SPDX-License-Identifier: Apache-2.0
//
// measure OUTPUT COMMAND...: runs a command with its standard output in a file, and prints the
// nanoseconds it took and the bytes it had in memory at most. With - as OUTPUT it reads the output,
// keeps nothing of it, and prints the nanoseconds until the end of its first line. In C, since
// Linux counts as the memory of a process what its parent had when it started it, and this one has
// next to nothing.

#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

// Reads to the end, and returns when the first line was there.
static long long read_all(int input) {
  static char buffer[1 << 16];
  long long first = 0;
  ssize_t length;
  while ((length = read(input, buffer, sizeof buffer)) > 0)
    if (!first && memchr(buffer, '\n', length)) first = now();
  return first;
}

int main(int count, char **words) {
  if (count < 3) return 64;
  int ends[2] = {-1, -1};
  if (!strcmp(words[1], "-") && pipe2(ends, O_CLOEXEC)) return 1;
  long long start = now(), first = 0;
  pid_t child = fork();
  if (child == 0) {
    int output = ends[1] < 0 ? open(words[1], O_WRONLY | O_CREAT | O_TRUNC, 0600) : ends[1];
    if (output < 0 || dup2(output, 1) < 0) _exit(126);
    execv(words[2], words + 2);
    _exit(127);
  }
  int status;
  struct rusage usage;
  if (ends[0] >= 0) {
    close(ends[1]);
    first = read_all(ends[0]);
  }
  if (child < 0 || wait4(child, &status, 0, &usage) != child) return 1;
  long long time = (first ? first : now()) - start;
  printf("%lld %lld\n", time, usage.ru_maxrss * 1024LL);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
