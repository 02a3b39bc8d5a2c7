// SPDX-License-Identifier: Apache-2.0

public import KeepsakeValues

/// A failed read or write of a setting. `read()`, `write(_:)` and `update(_:)` throw it; getters
/// and setters, which cannot throw, report it in `failures`.
public struct SettingFailure: Error, Sendable, CustomStringConvertible {
  /// The operation that failed.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Operation: String, Sendable {
    /// The stored bytes are unchanged. A property returned its declared default instead.
    case read
    /// The store is unchanged.
    case write
    /// An empty `dictionaryRepresentation()` was returned instead.
    case readAll
    /// The last writes may not survive a power cut.
    case synchronize
    /// Observers have not yet received the changes of other processes; the store retries.
    case observe
    /// This conflict and the later ones stay open; the store retries after the next commit.
    case resolve
    /// Today's backup could not be made. A damaged device is not copied.
    case backup
    /// The log beside the file could not be moved into it, and grows until it can. Nothing is lost.
    case checkpoint
    /// The suite was not added.
    case addSuite
    /// A layer keeps its former values, or observers have not received its changes.
    case reload
  }

  /// The store's name on the device.
  public let store: String
  /// Empty for an operation on the whole store.
  public let key: String
  /// The operation that failed.
  public let operation: Operation
  /// The type of the stored value that could not be read; nil for another failure.
  public let storedType: StoredValue.Kind?
  /// The launch argument that could not be read, as the index of its key among the arguments; nil
  /// for a value of another layer.
  public let argument: Int?
  /// The provider of the value that could not be read; nil for a value that the store keeps.
  public let provider: SettingExplanation.Provider?
  /// The reason: a `KeepsakeError`, a `ValueError`, or the error of a transformer or a resolver.
  public let cause: any Error

  /// - Parameters:
  ///   - storedType: the type of the stored value that could not be read.
  ///   - value: the launch argument or the provider's value that could not be read.
  init(
    _ operation: Operation, _ cause: any Error, store: String, key: String = "",
    storedType: StoredValue.Kind? = nil, value: ValueInForce? = nil
  ) {
    (self.operation, self.store, self.key, self.storedType) = (operation, store, key, storedType)
    (argument, provider) = (value?.argument, value?.provider)
    self.cause = value?.redacted(cause) ?? cause
  }

  /// One line: the setting, the operation, the type of the stored value, and the cause.
  public var description: String {
    let summary =
      switch operation {
      case .read: "\(store)/\(key): the setting could not be read" + origin
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
    return "\(summary): \(cause)"
  }

  /// The place of the value that could not be read.
  private var origin: String {
    if let argument { return " from launch argument \(argument)" }
    if let provider { return " from \(provider)" }
    return storedType.map { " from the \($0.rawValue) that is stored" } ?? ""
  }
}

/// An invalid declaration of a settings class, a key or a suite.
public struct SettingDeclarationError: Error, Sendable, CustomStringConvertible {
  /// One sentence: what is wrong and what to do.
  public let description: String
}
