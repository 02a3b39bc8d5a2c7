// SPDX-License-Identifier: Apache-2.0
//
// Tells ThreadSanitizer of locks that it cannot see. `Mutex` takes and leaves a lock that nobody
// waits for in code that is compiled into ours, and so is instrumented; otherwise it does so in
// Swift's library, which is not, and what the lock guards would look like a race. Loaded before all
// other libraries, this stands before the library's functions
// (swiftlang/swift, stdlib/public/Synchronization/Mutex/LinuxImpl.swift).

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SELF __attribute__((swift_context)) void *mutex
#define SWIFT __attribute__((swiftcall))
#define LOCK "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

// Programs that are not instrumented load this too, and lack these functions.
extern void __tsan_acquire(void *address) __attribute__((weak));
extern void __tsan_release(void *address) __attribute__((weak));

SWIFT void lock_slow(uint32_t thread, SELF) __asm__(LOCK);
SWIFT bool try_lock_slow(SELF) __asm__(TRY_LOCK);
SWIFT void unlock_slow(SELF) __asm__(UNLOCK);

SWIFT void lock_slow(uint32_t thread, SELF) {
  SWIFT void (*real)(uint32_t, SELF) = dlsym(RTLD_NEXT, LOCK);
  real(thread, mutex);
  if (__tsan_acquire) __tsan_acquire(mutex);
}

SWIFT bool try_lock_slow(SELF) {
  SWIFT bool (*real)(SELF) = dlsym(RTLD_NEXT, TRY_LOCK);
  bool is_locked = real(mutex);
  if (is_locked && __tsan_acquire) __tsan_acquire(mutex);
  return is_locked;
}

SWIFT void unlock_slow(SELF) {
  if (__tsan_release) __tsan_release(mutex);
  SWIFT void (*real)(SELF) = dlsym(RTLD_NEXT, UNLOCK);
  real(mutex);
}
