// SPDX-License-Identifier: Apache-2.0

import KeepsakeValues

/// Holds the two readers of JSON to each other, the tree and the one that copies large values
/// without a tree, and both to the writer.
func readJSON(_ bytes: [UInt8]) throws(Finding) {
  guard let text = String(validating: bytes, as: UTF8.self) else { return }
  let tree: JSON
  do {
    tree = try JSON(parsing: text)
  } catch {
    return try demand(error.column <= bytes.count + 1, "a column outside of the text: \(error)")
  }
  try expectReturn(of: tree)
  let direct = try record(of: bytes)
  do {
    let value = try tree.storedValue()
    let cell = try TaggedCell(value)
    try expectReturn(of: value)
    let columns = try direct.columns(of: value.kind, tag: nil)
    guard columns == cell else {
      throw Finding(description: "\(columns) without a tree, \(cell) with one")
    }
  } catch let finding as Finding {
    throw finding
  } catch let refusal {
    // A scalar has a type of its own, which the tree refuses to guess.
    guard case .container(let kind, let text) = direct else { return }
    throw Finding(description: "\(kind) \(text) is only refused with a tree: \(refusal)")
  }
}

/// What is written has to be read as the same, and to be written as the same again.
private func expectReturn(of tree: JSON) throws(Finding) {
  let text = tree.text()
  do {
    let again = try JSON(parsing: text)
    guard again.text() == text, again == tree else {
      throw Finding(description: "\(text) comes back as \(again.text())")
    }
  } catch let finding as Finding {
    throw finding
  } catch {
    throw Finding(description: "\(text) is refused: \(error)")
  }
}

private func expectReturn(of value: StoredValue) throws(Finding) {
  do {
    let text = try JSON(storing: value).text()
    let again = try JSON(parsing: text).storedValue()
    guard again == value, try JSON(storing: again).text() == text else {
      throw Finding(description: "\(text) comes back as \(again)")
    }
  } catch let finding as Finding {
    throw finding
  } catch {
    throw Finding(description: "\(value) does not come back: \(error)")
  }
}

/// The text as the large member of a record.
private func record(of bytes: [UInt8]) throws(Finding) -> JSONRecord.Content {
  let line = Array("{\"value\":".utf8) + bytes + Array("}".utf8)
  let names = JSONRecord.Names(["value"], large: "value")
  do {
    let record = try line.withUnsafeBufferPointer { bytes in
      try JSONRecord(parsing: bytes, names)
    }
    guard let content = record.content else { throw Finding(description: "no content") }
    return content
  } catch let finding as Finding {
    throw finding
  } catch {
    // One level deeper, a text may be one level too deep.
    return .none(ValueError(.invalid, "\(error)"))
  }
}
