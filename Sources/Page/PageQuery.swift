// SPDX-License-Identifier: Apache-2.0

#if Page
  import Hummingbird
  import KeepsakeValues
  import NIOCore

  /// The parameters of a request: from the query of its address, or from a JSON object in its body.
  struct PageQuery: Sendable {
    /// The maximum size of a request's body in bytes.
    static let most = 4 << 20

    private let members: [String: JSON]

    init(_ request: Request) {
      members = Dictionary(
        request.uri.queryParameters.map { (String($0.key), .string(String($0.value))) },
        uniquingKeysWith: { $1 })
    }

    init(_ body: ByteBuffer) throws {
      guard let text = String(validating: body.readableBytesView, as: UTF8.self) else {
        throw PageProblem.malformed("the request is not UTF-8")
      }
      guard case .object(let members)? = Self.parsed(text) else {
        throw PageProblem.malformed("the request is no JSON object")
      }
      self.members = Dictionary(
        members.map { ($0.name, $0.value) }, uniquingKeysWith: { $1 })
    }

    private static func parsed(_ text: String) -> JSON? {
      do { return try JSON(parsing: text) } catch { return nil }
    }

    func text(_ name: String) throws -> String {
      guard let text = optionalText(name) else { throw PageProblem.malformed("it has no \(name)") }
      return text
    }

    func optionalText(_ name: String) -> String? {
      if case .string(let text)? = members[name] { text } else { nil }
    }

    func number(_ name: String) throws -> Int {
      switch members[name] {
      case .integer(let number): return Int(number)
      case .string(let text):
        if let number = Int(text) { return number }
        fallthrough
      default: throw PageProblem.malformed("\(name) is no number")
      }
    }

    func flag(_ name: String) -> Bool { members[name] == .boolean(true) }

    func address() throws -> Address {
      Address(store: try text("store"), key: try text("key"))
    }
  }
#endif
