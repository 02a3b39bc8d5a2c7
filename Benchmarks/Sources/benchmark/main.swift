// SPDX-License-Identifier: Apache-2.0
//
// Scripts/benchmark explains its options.

import Foundation

/// This program in a second process.
private func play(_ role: String, _ words: [String]) throws {
  switch (role, words.count) {
  case ("fixture", 4):
    try Fixture.make(words[0], Int(words[1]) ?? 0, words[2], Int(words[3]) ?? 0)
  case ("open defaults", 2): try OpenRoles.openDefaults(words[0], words[1])
  case ("memory", 3): try OpenRoles.memory(words[0], words[1], Int(words[2]) ?? 0)
  case ("written bytes", 4):
    try WriteRoles.writtenBytes(words[0], words[1], Int(words[2]) ?? 1, Int(words[3]) ?? 1)
  case ("memory of threads", 3):
    try ThreadRoles.memory(words[0], words[1], Int(words[2]) ?? 1)
  case ("memory of stores", 3): try StoreRoles.memory(words[0], words[1], Int(words[2]) ?? 1)
  case ("tell stores", 2): try StoreRoles.tell(words[0], Int(words[1]) ?? 1)
  case ("tell", 1): try ProcessRoles.tell(words[0])
  case ("tell bytes", 1): try ProcessRoles.tellBytes(words[0])
  case ("write", 1): try ProcessRoles.write(words[0])
  case ("write by SQLite", 1): try ProcessRoles.writeBySQLite(words[0])
  default: throw Failure("unknown role \(role)")
  }
}

do {
  let words = Array(CommandLine.arguments.dropFirst())
  if words.count >= 2, words[0] == "--role" {
    try play(words[1], Array(words[2...]))
  } else {
    try Run(words).toItsEnd()
  }
} catch {
  FileHandle.standardError.write(Data("\(error)\n".utf8))
  exit(1)
}
