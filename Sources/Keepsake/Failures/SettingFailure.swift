// SPDX-License-Identifier: Apache-2.0

public import KeepsakeValues

/// A read or a write of a setting that failed: reported where nothing could be thrown, thrown by
/// `read()`, `write(_:)` and `update(_:)`.
public struct SettingFailure: Error, Sendable, CustomStringConvertible {
  /// What was tried.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Operation: String, Sendable {
    /// The stored bytes are as they were. A property gave its declared default instead.
    case read
    /// The store holds what it held.
    case write
    /// An empty `dictionaryRepresentation()` was returned instead.
    case readAll
    /// The last writes may not survive a power cut.
    case synchronize
    /// Observers have not yet heard of what other processes changed; it is tried again.
    case observe
    /// The conflict, and those after it, stay open; they are tried again after the next commit.
    case resolve
    /// Today's backup could not be made. A damaged device is not copied.
    case backup
    /// The log beside the file could not be moved into it, and grows until it can. Nothing is lost.
    case checkpoint
    /// The suite was not added.
    case addSuite
    /// A layer gives the values that it had, or observers have not heard which have changed.
    case reload
  }

  /// The store's name on the device.
  public let store: String
  /// Empty for an operation on the whole store.
  public let key: String
  /// What was tried.
  public let operation: Operation
  /// The type of the stored value that could not be read; nil for another failure.
  public let storedType: StoredValue.Kind?
  /// The launch argument that could not be read, as the index of its key among the arguments; nil
  /// for a value of another layer.
  public let argument: Int?
  /// Who gave the value that could not be read; nil for a value of a layer that the store keeps.
  public let provider: SettingExplanation.Provider?
  /// Why it failed: a `KeepsakeError`, a `ValueError`, or what a transformer or a resolver threw.
  public let cause: any Error

  /// One line: which setting, what was tried, what is stored, why it failed.
  public var description: String {
    let what =
      switch operation {
      case .read:
        "\(store)/\(key): the setting could not be read" + origin
      case .write: "\(store)/\(key): the setting could not be written"
      case .readAll: "\(store): the settings could not be read"
      case .synchronize: "\(store): the last writes may not survive a power cut"
      case .observe: "\(store): changes by other processes could not be read"
      case .resolve: "\(store): a conflict could not be resolved"
      case .backup: "\(store): the daily backup could not be made"
      case .checkpoint: "\(store): the log beside the device's file grows"
      case .addSuite: "\(store): the suite was not added"
      case .reload: "\(store): a layer could not be followed"
      }
    return "\(what): \(cause)"
  }

  private var origin: String {
    if let argument { return " from launch argument \(argument)" }
    if let provider { return " from \(provider)" }
    return storedType.map { " from the \($0.rawValue) that is stored" } ?? ""
  }
}

/// A settings class, a key or a suite that is not declared right.
public struct SettingDeclarationError: Error, Sendable, CustomStringConvertible {
  /// One sentence: what is wrong and what to do.
  public let description: String
}
