// SPDX-License-Identifier: Apache-2.0

/// An error of a device's file, or of an operation on it.
///
/// An operation that throws one has changed nothing, except a merge of many entries: it may have
/// written some of them, and continues from there when it is run again. A write that the disk
/// refuses to sync is undone; if the disk refuses that too, the file may still have the write when
/// it is opened again.
public struct KeepsakeError: Error, Sendable, CustomStringConvertible {
  /// What is wrong, for programs.
  #if hasAttribute(nonexhaustive)
    @nonexhaustive
  #endif
  public enum Code: Sendable, Equatable, CaseIterable {
    /// There is no such file; on a hub, no such account, or no such device of it.
    case missing
    /// Not a file of ours: another format, another application, a folder, an empty file.
    case notKeepsake
    /// A file of ours that is damaged.
    case corrupt
    /// The log or the journal beside the file belongs to another one, and would destroy this.
    case foreignLog
    /// Written by a version that this one must not touch.
    case newerSchema
    /// The file is not there and cannot be made.
    case cannotCreate
    /// Reading or writing failed below us.
    case inputOutput
    /// No space left on the disk.
    case diskFull
    /// Another connection kept the file locked for longer than the busy timeout.
    case locked
    /// The operating system does not let us, or a container for a test does not.
    case permissionDenied
    /// The same file was named twice.
    case sameFile
    /// A key or a store name that no store can hold.
    case invalidKey
    /// A value that no store can hold, or that is not of the type asked for.
    case invalidValue
    /// The device was opened read-only.
    case readOnly
    /// A managed layer has a value of the key; see `SettingsStore.isManaged(_:)`.
    case managed
    /// A hub cannot be reached: there is no way to it, it does not answer in time, or something
    /// else answers in its place.
    case unreachable
    /// A hub does not know the token, or has revoked it.
    case unauthorized
    /// A hub and this version do not speak one version of the protocol.
    case incompatible
    /// A hub is busy or out of service, and may answer later.
    case unavailable
    /// A hub takes no more of this account.
    case full
    /// An entry is larger than a hub takes.
    case tooLarge
    /// A hub's answer, or the request for it, violates the protocol: one of the two is defective.
    case malformed
  }

  /// The kind of problem, for programs.
  public let code: Code
  /// The path of the file; `(memory)` for a device in memory, the address of a hub.
  public let path: String
  /// What is wrong, in a few words. Never contains a value.
  public let problem: String
  /// What to do about it.
  public let cure: String
  /// The error below this one, if there is one.
  public let cause: (any Error)?

  package init(
    _ code: Code, path: String, _ problem: String, cure: String, cause: (any Error)? = nil
  ) {
    self.code = code
    self.path = path
    self.problem = problem
    self.cure = cure
    self.cause = cause
  }

  /// The same error about another path.
  package func at(_ path: String) -> KeepsakeError {
    KeepsakeError(code, path: path, problem, cure: cure, cause: cause)
  }

  /// One line: where, what, what to do.
  public var description: String { "\(path): \(problem); \(cure)" }
}
