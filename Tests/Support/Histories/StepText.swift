// SPDX-License-Identifier: Apache-2.0
//
// A step as a line of words. Text is ASCII, with what else it has escaped, so that unequal forms of
// one letter look unequal, and survive an editor.

import Foundation
import KeepsakeValues

extension Step: CustomStringConvertible {
  package var description: String {
    switch self {
    case .write(let place, let address, let value?):
      "write \(place) \(words(address)) \(word(value))"
    case .write(let place, let address, nil): "delete \(place) \(words(address))"
    case .meet(let encounter): "meet \(encounter)"
    case .pass(let milliseconds): "pass \(milliseconds)"
    case .skew(let place, let milliseconds): "skew \(place) \(milliseconds)"
    case .freeze(let place): "freeze \(place)"
    case .thaw(let place): "thaw \(place)"
    case .save(let place, let number): "save \(place) as \(number)"
    case .restore(let place, let number): "restore \(place) from \(number)"
    case .copy(let place, let other): "copy \(place) over \(other)"
    case .compact(let place): "compact \(place)"
    case .retire(let place, let other): "retire \(place) \(other)"
    case .reopen(let place): "reopen \(place)"
    }
  }

  init(_ words: inout Words) throws {
    switch try words.next() {
    case "write": self = .write(try words.number(), try words.address(), try words.value())
    case "delete": self = .write(try words.number(), try words.address(), nil)
    case "meet": self = .meet(try Encounter(&words))
    case "pass": self = .pass(milliseconds: try words.number())
    case "skew": self = .skew(try words.number(), milliseconds: try words.number())
    case "freeze": self = .freeze(try words.number())
    case "thaw": self = .thaw(try words.number())
    case "save": self = .save(try words.number(), as: try words.number(after: "as"))
    case "restore": self = .restore(try words.number(), from: try words.number(after: "from"))
    case "copy": self = .copy(try words.number(), over: try words.number(after: "over"))
    case "compact": self = .compact(try words.number())
    case "retire": self = .retire(try words.number(), try words.number())
    case "reopen": self = .reopen(try words.number())
    case let other: throw ScriptError(description: "there is no step \(other)")
    }
  }

  private func words(_ address: Address) -> String {
    "\(escaped(address.store.string)) \(escaped(address.key.string))"
  }

  private func word(_ value: StoredValue) -> String {
    switch value {
    case .integer(let number): "integer:\(number)"
    case .real(let number): "real:\(number)"
    case .data(let bytes): "data:\(bytes.base64EncodedString())"
    case .string(let text): "string:\(escaped(text))"
    default: "string:"
    }
  }
}

extension Encounter: CustomStringConvertible {
  package var description: String {
    var words = places.map(String.init)
    if isOneWay { words.append("one-way") }
    if let stores { words += ["only", stores.map(escaped).joined(separator: ",")] }
    if let crash { words += ["crash", String(crash)] }
    if let fault { words += ["fault", fault.kind.rawValue, String(fault.number)] }
    if let during { words += ["during", "\(during.after)", "\(during.step)"] }
    return words.joined(separator: " ")
  }

  init(_ words: inout Words) throws {
    self.init([])
    while let word = words.peek {
      words.skip()
      switch word {
      case "one-way": isOneWay = true
      case "only": stores = try words.next().split(separator: ",").map { try unescaped($0) }
      case "crash": crash = try words.number()
      case "fault":
        let name = try words.next()
        guard let kind = Fault.Kind(rawValue: name) else {
          throw ScriptError(description: "there is no fault \(name)")
        }
        fault = Fault(kind: kind, number: try words.number())
      case "during": during = During(after: try words.number(), step: try Step(&words))
      default:
        guard let place = Int(word) else {
          throw ScriptError(description: "not a device: \(word)")
        }
        places.append(place)
      }
    }
    guard Set(places).count == places.count, places.count >= 2 else {
      throw ScriptError(description: "an exchange needs two devices or more, each once")
    }
  }
}

/// What is left of a line.
struct Words {
  private var rest: ArraySlice<Substring>

  init(_ line: Substring) {
    rest = line.split(separator: " ")[...]
  }

  var peek: Substring? { rest.first }

  mutating func skip() { rest.removeFirst() }

  mutating func next() throws -> String {
    guard let word = rest.popFirst() else {
      throw ScriptError(description: "a word is missing")
    }
    return String(word)
  }

  mutating func number<Number: FixedWidthInteger>(after word: String? = nil) throws -> Number {
    if let word, try next() != word { throw ScriptError(description: "\(word) is missing") }
    let text = try next()
    guard let number = Number(text) else {
      throw ScriptError(description: "not a number: \(text)")
    }
    return number
  }

  mutating func address() throws -> Address {
    Address(store: try unescaped(next()), key: try unescaped(next()))
  }

  mutating func value() throws -> StoredValue {
    let word = try next()
    let parts = word.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let text = parts.count == 2 ? String(parts[1]) : ""
    switch parts[0] {
    case "string": return .string(try unescaped(text))
    case "integer": if let number = Int64(text) { return .integer(number) }
    case "real": if let number = Double(text) { return .real(number) }
    case "data": if let bytes = Data(base64Encoded: text) { return .data(bytes) }
    default: break
    }
    throw ScriptError(description: "not a value: \(word)")
  }

  func end() throws {
    if let word = peek { throw ScriptError(description: "too much, from \(word) on") }
  }
}

func escaped(_ text: String) -> String {
  text.unicodeScalars.map { $0.escaped(asASCII: true) }.joined()
}

private func unescaped(_ text: some StringProtocol) throws -> String {
  var parts = text.components(separatedBy: "\\u{")[...]
  var plain = parts.popFirst() ?? ""
  for part in parts {
    let halves = part.components(separatedBy: "}")
    guard let code = UInt32(halves[0], radix: 16), let scalar = Unicode.Scalar(code) else {
      throw ScriptError(description: "not an escaped letter: \(part)")
    }
    plain.unicodeScalars.append(scalar)
    plain += halves.dropFirst().joined(separator: "}")
  }
  return plain
}
