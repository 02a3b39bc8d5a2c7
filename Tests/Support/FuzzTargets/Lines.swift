// SPDX-License-Identifier: Apache-2.0

import Foundation
import KeepsakeFormats
import KeepsakeSettingsBundle

/// Reads what `kvsync import` would, twice: whole, and in pieces as a pipe may give them. Both have
/// to say the same.
func readLines(_ bytes: [UInt8]) throws(Finding) {
  let whole = try outcome(of: bytes, inPiecesOf: 1 << 16)
  let pieces = try outcome(of: bytes, inPiecesOf: bytes.count % 7 + 1)
  try demand(whole == pieces, "whole: \(whole), in pieces: \(pieces)")
}

/// What was read, and by what error it ended.
private func outcome(of bytes: [UInt8], inPiecesOf size: Int) throws(Finding) -> String {
  var rest = Data(bytes)
  let input = ImportInput(name: "fuzz") { limit in
    let piece = rest.prefix(min(size, limit))
    rest = rest.dropFirst(piece.count)
    return Data(piece)
  }
  var outcome = ""
  do {
    try ImportFile(input: input, store: "cloud").forEachWrite { line in
      outcome += "\(line.store) \(line.key) \(line.content) \(line.time as Any)\n"
    }
  } catch let error as InputError {
    guard error.kind == .data, error.message.hasPrefix("fuzz:"), error.message.contains("; ") else {
      throw Finding(description: "a message without place or cure: \(error)")
    }
    outcome += error.message
  } catch let error as PropertyListError {
    outcome += "\(error)"
  } catch {
    throw Finding(description: "an error of another kind: \(error)")
  }
  return outcome
}
