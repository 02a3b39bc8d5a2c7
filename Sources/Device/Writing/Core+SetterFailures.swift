// SPDX-License-Identifier: Apache-2.0
//
// A transaction is all or nothing, also where it writes by what cannot throw, as a property's
// setter cannot: the transaction throws instead.

import KeepsakeStorage

extension Core {
  /// Runs the body of a transaction, or of a part of one, within its access.
  ///
  /// - Throws: what `body` throws, else the first failure that `note` got meanwhile.
  func throwingSetterFailures<Value>(_ body: () throws -> Value) throws -> Value {
    let (outer, failures) = (session.setterFailures, SetterFailures())
    session.setterFailures = failures
    defer { session.setterFailures = outer }
    let value: Value
    do {
      value = try body()
    } catch {
      if let first = failures.first { afterTransaction(first.report) }
      throw error
    }
    guard let first = failures.first else { return value }
    // What has ended the whole transaction is why everything after it failed.
    if let ending = session.ending { throw KeepsakeError(ending, path: storage.location.path) }
    throw first.error
  }

  /// Calls what may write when this thread's transaction is over: within, its writes would be
  /// taken back with those that failed.
  func afterTransaction(_ report: @escaping @Sendable () -> Void) {
    guard versions.isInOurTransaction else { return report() }
    session.reports.append(report)
  }
}

extension Device {
  /// As `Core.afterTransaction`.
  package func afterTransaction(_ report: @escaping @Sendable () -> Void) {
    core.afterTransaction(report)
  }

  /// Leaves a failure to the transaction of this thread, which is going to throw the first of them.
  ///
  /// - Parameter report: called if it throws something else.
  /// - Returns: false when there is no such transaction, so that nothing was done.
  package func note(_ error: any Error, orReport report: @escaping @Sendable () -> Void) -> Bool {
    guard versions.isInOurTransaction, let failures = core.session.setterFailures else {
      return false
    }
    if failures.first == nil { failures.first = (error, report) }
    return true
  }
}
