// SPDX-License-Identifier: Apache-2.0

/// What an attack has found.
package struct Complaint: Error, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}

/// Throws the complaint unless `condition` holds.
package func demand(
  _ condition: Bool, _ complaint: @autoclosure () -> String
) throws(Complaint) {
  if !condition { throw Complaint(complaint()) }
}
