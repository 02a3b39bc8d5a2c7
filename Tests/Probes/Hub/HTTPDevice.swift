// SPDX-License-Identifier: Apache-2.0

import Foundation

/// A device of an account of its own, on a connection that stays open. It shares the processors
/// with the hub, so it does little.
final class HTTPDevice: @unchecked Sendable {
  private let descriptor: Int32
  private let account = String(format: "%016lx", Int64.random(in: 1..<1 << 62))
  private let token = String((0..<43).map { _ in "abcdefghijklmnop".randomElement() ?? "a" })
  private var newest = "0-0000000000000000"
  private var buffer = [UInt8](repeating: 0, count: 1 << 16)

  init(_ port: UInt16, _ secret: String) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    (address.sin_port, address.sin_addr.s_addr) = (port.bigEndian, UInt32(0x7F00_0001).bigEndian)
    let connected = withUnsafePointer(to: address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard connected == 0 else { throw Failure(text: "the hub is not reached") }
    _ = try ask(
      "PUT", "", secret, "Content-Type: application/json\r\n",
      #"{"name":"probe","token":"\#(token)"}"#, 201)
  }

  deinit { close(descriptor) }

  func push(_ keys: [String], _ row: String) throws {
    var body = #"{"rows":\#(keys.count),"mark":"m","vectors":{}}"# + "\n"
    for key in keys { body += #"{"key":"\#(key)","row":\#(row)}"# + "\n" }
    let answer = try ask(
      "POST", "/rows?replica=probe", token,
      "Content-Type: application/jsonl\r\nIf-Match: \"\(newest)\"\r\n", body, 200)
    newest = String(answer.dropFirst(#"{"newest":""#.count).prefix { $0 != "\"" })
  }

  func readNothing() throws {
    let path = "/rows?replica=probe&cursor=\(newest)"
    _ = try ask("GET", path, token, "If-None-Match: \"\(newest)\"\r\n", "", 304)
  }

  /// Asks for events, and waits for the first one. Nothing else can be asked then.
  func listen() throws {
    try send("GET", "/events", token, "", "")
    var text = ""
    while !text.contains("\ndata:") {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      guard count > 0 else { throw Failure(text: "the hub closes the connection: \(text)") }
      text += String(decoding: buffer[..<count], as: UTF8.self)
      guard text.hasPrefix("HTTP/1.1 200 ") else { throw Failure(text: text) }
    }
  }

  func readAll() throws {
    var (after, last) = ("0", "")
    repeat {
      let text = try ask(
        "GET", "/rows?replica=probe&after=\(after)" + (last.isEmpty ? "" : "&newest=\(last)"),
        token, "", "", 200)
      guard let end = text.range(of: "\"seq\":", options: .backwards) else { return }
      after = String(text[end.upperBound...].prefix { $0.isNumber })
      last = newest
      if text.hasPrefix(#"{"newest":"\#(newest)","cursor":"known","isLast":true"#) { return }
    } while true
  }

  private func ask(
    _ method: String, _ path: String, _ token: String, _ fields: String, _ body: String,
    _ status: Int
  ) throws -> String {
    try send(method, path, token, fields, body)
    return try answer(status)
  }

  private func send(
    _ method: String, _ path: String, _ token: String, _ fields: String, _ body: String
  ) throws {
    let text =
      "\(method) /v1/accounts/\(account)\(path) HTTP/1.1\r\nHost: hub\r\n"
      + "Authorization: Bearer \(token)\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n"
      + body
    var rest = Array(text.utf8)[...]
    while !rest.isEmpty {
      let sent = rest.withUnsafeBytes {
        Foundation.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard sent > 0 else { throw Failure(text: "the hub closes the connection") }
      rest = rest.dropFirst(sent)
    }
  }

  private func answer(_ status: Int) throws -> String {
    var bytes: [UInt8] = []
    let end = Array("\r\n\r\n".utf8)
    while true {
      let count = recv(descriptor, &buffer, buffer.count, 0)
      guard count > 0 else { throw Failure(text: "the hub closes the connection") }
      bytes += buffer[..<count]
      guard let head = bytes.firstRange(of: end) else { continue }
      let text = String(decoding: bytes[..<head.upperBound], as: UTF8.self)
      guard text.hasPrefix("HTTP/1.1 \(status) ") else {
        throw Failure(text: String(decoding: bytes, as: UTF8.self))
      }
      let length = text.range(of: "Content-Length: ").flatMap { field in
        Int(text[field.upperBound...].prefix { $0.isNumber })
      }
      let total = head.upperBound + (status == 304 ? 0 : length ?? 0)
      while bytes.count < total {
        let more = recv(descriptor, &buffer, buffer.count, 0)
        guard more > 0 else { throw Failure(text: "the hub closes the connection") }
        bytes += buffer[..<more]
      }
      return String(decoding: bytes[head.upperBound...], as: UTF8.self)
    }
  }
}
