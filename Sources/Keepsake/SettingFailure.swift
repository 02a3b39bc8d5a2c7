// SPDX-License-Identifier: Apache-2.0

/// A read or a write of a setting that failed where nothing could be thrown.
public struct SettingFailure: Error, Sendable, CustomStringConvertible {
  /// What was tried.
  public enum Operation: String, Sendable {
    /// The declared default was returned instead; the stored bytes are as they were.
    case read
    /// The store holds what it held.
    case write
  }

  public let store: String
  public let key: String
  public let operation: Operation
  public let cause: any Error

  /// One line: which setting, what was tried, why it failed.
  public var description: String {
    "\(store)/\(key): the setting could not be \(operation == .read ? "read" : "written"): \(cause)"
  }
}

/// A settings class that is not declared right.
public struct SettingDeclarationError: Error, Sendable, CustomStringConvertible {
  /// One sentence: what is wrong and what to do.
  public let description: String
}
