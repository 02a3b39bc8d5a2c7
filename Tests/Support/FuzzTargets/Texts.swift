// SPDX-License-Identifier: Apache-2.0

import KeepsakeValues

/// Holds the reader of JSON to the writer.
func readJSON(_ bytes: [UInt8]) throws(Finding) {
  guard let text = String(validating: bytes, as: UTF8.self) else { return }
  let tree: JSON
  do {
    tree = try JSON(parsing: text)
  } catch {
    return try demand(error.column <= bytes.count + 1, "a column outside of the text: \(error)")
  }
  try expectReturn(of: tree)
  // JSON that is not a value of a store is refused.
  guard case .success(let value) = Result(catching: { try tree.storedValue() }) else { return }
  try expectReturn(of: value)
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
