// SPDX-License-Identifier: Apache-2.0

import Foundation

private let target = ProcessInfo.processInfo.environment["KEEPSAKE_FUZZ"].flatMap(
  FuzzTarget.init(rawValue:))

/// What libFuzzer calls with each input, in a program that `Scripts/fuzz` builds; the environment
/// names the target.
///
/// - Returns: 0; any other value is reserved.
@_cdecl("LLVMFuzzerTestOneInput")
package func fuzz(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
  guard let target else { preconditionFailure("KEEPSAKE_FUZZ names no target") }
  do {
    try target.take(Array(UnsafeBufferPointer(start: start, count: count)))
  } catch {
    // Optimised, a failed precondition does not tell its message.
    FileHandle.standardError.write(Data("fuzz: \(error)\n".utf8))
    abort()
  }
  return 0
}
