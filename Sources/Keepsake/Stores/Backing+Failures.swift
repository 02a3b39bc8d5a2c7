// SPDX-License-Identifier: Apache-2.0
//
// How a store makes and reports failures.

import KeepsakeDevice
import KeepsakeValues

extension Backing {
  /// - Parameters:
  ///   - storedType: the type of the stored value that could not be read.
  ///   - readings: the readings of a launch argument or a provider's value.
  func failure(
    _ operation: SettingFailure.Operation, _ cause: any Error, key: String = "",
    storedType: StoredValue.Kind? = nil, readings: Readings? = nil
  ) -> SettingFailure {
    SettingFailure(
      store: store, key: key, operation: operation, storedType: storedType,
      argument: readings?.argument, provider: readings?.provider,
      cause: readings?.told(cause) ?? cause)
  }

  /// Reports a getter's failure, once for each version of the value.
  func reportRead(_ key: String, _ error: any Error) {
    let version = version(key) ?? .unknown(state, cause: "\(error)")
    report(.read, error, key: key, version: version)
  }

  /// Reports the values that a layer cannot read.
  func report(_ unreadable: [ByteText: KeepsakeError]) {
    for (key, error) in unreadable.sorted(by: { $0.key < $1.key }) {
      reportRead(key.string, error)
    }
  }

  /// Reports a setter's failure, unless it is within a transaction, which throws it.
  func reportWrite(_ key: String, _ error: any Error) {
    let report = { @Sendable in self.report(.write, error, key: key) }
    if !device.core.note(error, orReport: report) { report() }
  }

  /// Reports that the store as a whole could not be read, once for each state of the file.
  func reportReadAll(_ error: any Error) {
    report(.readAll, error, version: .unknown(state, cause: "\(error)"))
  }

  /// Reports a failure: once for each version, or every time without one.
  func report(
    _ operation: SettingFailure.Operation, _ error: any Error, key: String = "",
    version: FailureLog.Version? = nil
  ) {
    let failure = error as? SettingFailure ?? failure(operation, error, key: key)
    failures.report(failure, version: version)
  }

  private func version(_ key: String) -> FailureLog.Version? {
    switch Result(catching: { try explanation(key) }) {
    case .success(let explanation): explanation.inForce.map { .layer($0) }
    case .failure: nil
    }
  }
}
