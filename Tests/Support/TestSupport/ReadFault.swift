// SPDX-License-Identifier: Apache-2.0

import Foundation

/// Makes the n-th read of files in a folder fail with EIO, as of a disk that goes bad.
///
/// A library that is loaded before all others counts the reads.
public enum ReadFault {
  /// Runs a program, and lets one of its reads fail.
  ///
  /// - Parameters:
  ///   - place: of the read, from 1.
  ///   - folder: without symbolic links.
  ///   - run: runs the program with these words for env(1).
  /// - Returns: how it ended, and the file that could not be read, by its path in the folder; nil
  ///   when the program read less often.
  public static func strike(
    at place: Int, in folder: String, _ run: ([String]) throws -> Ending
  ) throws -> (ending: Ending, struck: String?) {
    let log = try library.get() + "-\(UUID().uuidString).log"
    let ending = try run([
      "LD_PRELOAD=\(library.get())", "FAILING_READ=\(place)", "FAILING_READ_IN=\(folder)/",
      "FAILING_READ_LOG=\(log)",
    ])
    guard FileManager.default.fileExists(atPath: log) else { return (ending, nil) }
    defer { unlink(log) }
    return (ending, try String(contentsOfFile: log, encoding: .utf8))
  }

  private static let source = #"""
    #define _GNU_SOURCE
    #include <dlfcn.h>
    #include <errno.h>
    #include <stdatomic.h>
    #include <stdio.h>
    #include <stdlib.h>
    #include <string.h>
    #include <sys/types.h>
    #include <unistd.h>

    static int fails(int file) {
      static atomic_int count;
      const char *at = getenv("FAILING_READ"), *log = getenv("FAILING_READ_LOG");
      const char *folder = getenv("FAILING_READ_IN");
      if (!at || !folder || !log) return 0;
      char link[64], path[4096];
      snprintf(link, sizeof link, "/proc/self/fd/%d", file);
      ssize_t length = readlink(link, path, sizeof path - 1);
      if (length < 0) return 0;
      path[length] = 0;
      size_t start = strlen(folder);
      if (strncmp(path, folder, start) != 0 || ++count != atoi(at)) return 0;
      FILE *said = fopen(log, "w");
      if (said) { fputs(path + start, said); fclose(said); }
      errno = EIO;
      return 1;
    }

    #define FALLIBLE(name, parameters, arguments) \
      ssize_t name parameters { \
        static ssize_t (*real) parameters; \
        if (!real) real = dlsym(RTLD_NEXT, #name); \
        return fails(file) ? -1 : real arguments; \
      }

    FALLIBLE(read, (int file, void *bytes, size_t size), (file, bytes, size))
    FALLIBLE(pread, (int file, void *bytes, size_t size, off_t offset),
      (file, bytes, size, offset))
    FALLIBLE(pread64, (int file, void *bytes, size_t size, off64_t offset),
      (file, bytes, size, offset))
    """#

  private static let library = Result { try Preload.make(source) }
}
