// SPDX-License-Identifier: Apache-2.0

import Keepsake
import KeepsakeTesting
import Synchronization
import Testing

@Suite struct FailuresAreIssuesTests {
  @Test func eachFailureOfAStoreIsAnIssueUntilTheTokenIsCancelled() throws {
    let settings = try AppSettings(on: .inMemory())
    settings[""] = 1
    let issues = Mutex<[String]>([])
    try withKnownIssue {
      let failures = settings.failuresAreIssues()
      try settings.device.whileWritesFail { settings.username = "ada" }
      failures.cancel()
      settings[""] = 2
    } matching: { issue in
      issues.withLock { $0.append(issue.comments.map(\.rawValue).joined()) }
      return true
    }
    #expect(issues.withLock { $0 } == settings.failures.prefix(2).map(\.description))
    #expect(settings.failures.count == 3)
  }
}
