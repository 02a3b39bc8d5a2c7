// SPDX-License-Identifier: Apache-2.0
//
// Reports limits of the system as errors; otherwise they would end the process.

import Foundation
import KeepsakeDevice
import KeepsakeFormats

package enum ProcessLimits {
  /// Must run before anything else.
  package static func prepare() throws {
    // A file that may not grow any more makes write(2) fail with EFBIG.
    signal(SIGXFSZ, SIG_IGN)
    try checkDescriptors()
    try refuseOtherEncodings()
  }

  /// Throws if two files, a copy and Dispatch, which would trap, cannot get their descriptors.
  private static func checkDescriptors() throws(KeepsakeError) {
    var descriptors: [Int32] = []
    defer { for descriptor in descriptors { close(descriptor) } }
    for _ in 0..<16 {
      let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC)
      guard descriptor >= 0 else { throw KeepsakeError(system: errno, path: "(this process)") }
      descriptors.append(descriptor)
    }
  }

  /// Swift would replace bytes that are not UTF-8, and so work on another key or another file.
  private static func refuseOtherEncodings() throws {
    for (place, argument) in CommandLine.arguments.enumerated() {
      guard let bytes = CommandLine.unsafeArgv[place],
        !argument.utf8.elementsEqual(
          UnsafeBufferPointer(start: bytes, count: strlen(bytes)).map(
            UInt8.init(bitPattern:)))
      else { continue }
      throw InputError.usage(
        "(command line): argument \(place) is not UTF-8; use names and values in UTF-8")
    }
  }
}
