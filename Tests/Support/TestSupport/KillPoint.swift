// SPDX-License-Identifier: Apache-2.0

import Foundation
public import Testing

/// Ends a process by SIGKILL before its n-th call that changes a file: no moment is left to luck.
///
/// A library that is loaded before all others counts the calls.
public enum KillPoint {
  public static let need: Comment = "Linux loads a library before others, and clang makes it"

  public static var isPossible: Bool {
    guard case .success = library else { return false }
    return true
  }

  /// Words for env(1).
  ///
  /// - Parameter call: from 1; 0 for none.
  public static func environment(at call: Int) throws -> [String] {
    ["LD_PRELOAD=\(try library.get())", "KILL_POINT=\(call)"]
  }

  /// Numbers of calls to kill a program at: each that changes a folder, and some that write.
  ///
  /// - Parameter run: runs the program to its end with these words for env(1).
  public static func points(_ run: ([String]) throws -> Void) throws -> [Int] {
    let calls = try calls(run)
    let (frequent, step) = (["pwrite", "fdatasync", "ftruncate"], 20)
    return calls.indices.filter { !frequent.contains(calls[$0]) || $0 % step == 0 }.map { $0 + 1 }
  }

  /// What a program calls, in order.
  public static func calls(_ run: ([String]) throws -> Void) throws -> [String] {
    let log = try library.get() + "-\(UUID().uuidString).log"
    try run(environment(at: 0) + ["KILL_POINT_LOG=\(log)"])
    defer { unlink(log) }
    return try String(contentsOfFile: log, encoding: .utf8).split(separator: "\n").map(String.init)
  }

  private static let source = #"""
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <fcntl.h>
    #include <signal.h>
    #include <stdarg.h>
    #include <stdatomic.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <sys/stat.h>
    #include <sys/types.h>
    #include <unistd.h>

    static void call(const char *name) {
      static atomic_int count;
      const char *at = getenv("KILL_POINT"), *log = getenv("KILL_POINT_LOG");
      if (at && ++count == atoi(at)) kill(getpid(), SIGKILL);
      FILE *file = log ? fopen(log, "a") : NULL;
      if (file) { fprintf(file, "%s\n", name); fclose(file); }
    }

    #define COUNTED(type, name, parameters, arguments, said) \
      type name parameters { \
        static type (*real) parameters; \
        if (!real) real = dlsym(RTLD_NEXT, #name); \
        call(said); \
        return real arguments; \
      }

    static const char *synced(int file) {
      struct stat status;
      return fstat(file, &status) == 0 && S_ISDIR(status.st_mode)
        ? "fsync of a folder" : "fsync";
    }

    COUNTED(int, fsync, (int file), (file), synced(file))
    COUNTED(int, fdatasync, (int file), (file), "fdatasync")
    COUNTED(int, link, (const char *a, const char *b), (a, b), "link")
    COUNTED(int, rename, (const char *a, const char *b), (a, b), "rename")
    COUNTED(int, unlink, (const char *path), (path), "unlink")
    COUNTED(int, rmdir, (const char *path), (path), "rmdir")
    COUNTED(int, mkdir, (const char *path, mode_t mode), (path, mode), "mkdir")
    COUNTED(int, flock, (int file, int operation), (file, operation), "flock")
    COUNTED(int, ftruncate, (int file, off_t size), (file, size), "ftruncate")
    COUNTED(int, ftruncate64, (int file, off64_t size), (file, size), "ftruncate")
    COUNTED(ssize_t, pwrite, (int file, const void *bytes, size_t size, off_t offset),
      (file, bytes, size, offset), "pwrite")
    COUNTED(ssize_t, pwrite64, (int file, const void *bytes, size_t size, off64_t offset),
      (file, bytes, size, offset), "pwrite")
    """#

  private static let library = Result { try Preload.make(source) }
}
