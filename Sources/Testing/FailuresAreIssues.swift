// SPDX-License-Identifier: Apache-2.0

// A package that builds this module without tests may not find Swift Testing.
#if canImport(Testing)
  public import Keepsake
  public import KeepsakeDevice
  public import Testing

  extension SettingsStore {
    /// Records an issue of the running test for each failure of this store that could not be
    /// thrown, including earlier failures, until the result is released.
    ///
    ///     let failures = settings.failuresAreIssues()
    ///     defer { failures.cancel() }
    ///
    /// For Swift Testing; in an XCTest
    /// `XCTAssertEqual(settings.failures.map(\.description), [])` at the end does.
    public func failuresAreIssues(
      sourceLocation: SourceLocation = #_sourceLocation
    ) -> ObservationToken {
      observeFailures { Issue.record("\($0)", sourceLocation: sourceLocation) }
    }
  }
#endif
