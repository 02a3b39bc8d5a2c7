// SPDX-License-Identifier: Apache-2.0

public import Foundation

/// When an application's device is copied for bad days.
public enum BackupPolicy: Sendable {
  /// Once a day, when a store is opened on it; the last two are kept, beside the file.
  case daily
  case never
}

extension Device {
  /// A copy of a device as it was on one day.
  public struct Backup: Sendable, Hashable {
    /// The copy: a file that `restore` and every command take.
    public let url: URL
    /// In UTC, as "2026-11-21".
    public let day: String
  }
}
