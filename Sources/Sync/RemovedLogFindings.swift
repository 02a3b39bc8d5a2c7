// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeDevice

extension Finding {
  /// Writes to a log that was removed while it was in use.
  static func removedLogs(of file: String) -> [Finding] {
    LostLog.users(of: file).map { process in
      Finding(
        kind: .log, problem: "process \(process) writes to a log that was removed",
        cure: "end that process, which saves its writes to a file beside this one")
    }
      + LostLog.all(of: file).map { path in
        let name = URL(fileURLWithPath: path).lastPathComponent
        return Finding(
          kind: .log, problem: "\(name) holds writes to a log that was removed",
          cure: "merge it with this file by kvsync merge, and remove it")
      }
  }
}
