// SPDX-License-Identifier: Apache-2.0
//
// In C, because Swift imports neither mremap, which is variadic, nor mach_task_self. The file is
// not opened again: closing it would drop the locks that this process holds on it.

#define _GNU_SOURCE
#include "mapping.h"

#include <errno.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

static size_t page_size(void) { return (size_t)sysconf(_SC_PAGESIZE); }

#if defined(__APPLE__)
#include <mach/mach.h>

const void *keepsake_map_again(void *page) {
  vm_address_t copy = 0;
  vm_prot_t current, maximum;
  kern_return_t code = vm_remap(
      mach_task_self(), &copy, page_size(), 0, VM_FLAGS_ANYWHERE, mach_task_self(),
      (vm_address_t)page, FALSE, &current, &maximum, VM_INHERIT_NONE);
  if (code == KERN_SUCCESS) return (const void *)copy;
  errno = ENOMEM;
  return NULL;
}
#else

const void *keepsake_map_again(void *page) {
  // With an old size of 0 this makes a second mapping of the same pages, see mremap(2).
  void *copy = mremap(page, 0, page_size(), MREMAP_MAYMOVE);
  return copy == MAP_FAILED ? NULL : copy;
}
#endif

void keepsake_unmap(const void *page) { munmap((void *)page, page_size()); }
