// SPDX-License-Identifier: Apache-2.0

package import KeepsakeDevice

/// What runs at the boundaries between a merge's transactions: for tests, which write there, or end
/// the merge.
package struct MergeHooks {
  /// A boundary; its name is that of the model.
  package enum Boundary: String, Sendable {
    /// A file has got a new replica ID.
    case rotated
    /// A giver was marked and read.
    case marked
    /// A page was applied, but for the last one.
    case page
    /// The last page was applied, with cursor and vectors.
    case pulled
    /// Another file has read the first one.
    case pulledBack = "pulled back"
    /// The first file has noted what the others have taken; with a hub: what the hub has.
    case noted
    /// A hub has answered a request for rows.
    case answered
    /// A page of rows for a hub was read.
    case read
    /// A hub has taken a page, or refused it.
    case pushed
  }

  private let body: (Boundary) -> KeepsakeError?

  /// - Parameter body: returns an error to end the merge.
  package init(body: @escaping (Boundary) -> KeepsakeError? = { _ in nil }) { self.body = body }

  func step(_ boundary: Boundary) throws(KeepsakeError) {
    if let error = body(boundary) { throw error }
  }
}
