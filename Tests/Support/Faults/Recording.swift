// SPDX-License-Identifier: Apache-2.0

/// All that a process did to the files in a folder, in its order.
struct Recording: Sendable {
  /// A file, whatever names it has.
  typealias File = Int

  enum Event: Sendable {
    case write(File, offset: Int, [UInt8])
    case truncate(File, to: Int)
    /// All before it in the same file is on the disk.
    case sync(File)
    /// A name is given, or, without a file, taken away.
    case name(String, File?)
    /// All names in the folder that were given and taken before are on the disk.
    case syncFolder(String)
  }

  var events: [Event] = []
  /// What was on the disk before the first event.
  var before: [String: (file: File, bytes: [UInt8])] = [:]
}
