// SPDX-License-Identifier: Apache-2.0

import Foundation
import HubCrowd
import KeepsakeDevice
import KeepsakeHub
import KeepsakeSync
import Synchronization

/// `kvsync-hub hub serve` over a new file, or a database without accounts, which devices reach by
/// HTTP. The process ends with this object.
final class HTTPHub: AnsweringHub {
  private typealias Job = @Sendable (HTTPConnection) -> Void

  let url: HubURL
  let port: UInt16
  let processID: pid_t
  private let secret: String
  private let folder = Mutex<TemporaryFolder?>(nil)
  private let tokens = Mutex<[Int64: String]>([:])
  /// Work for threads that have a connection each; nil ends one.
  private let jobs = Mutex<[Job?]>([])
  private let signal = DispatchSemaphore(value: 0)
  private let lines: Int

  /// - Parameters:
  ///   - program: the path of `kvsync-hub`.
  ///   - postgres: the database's address; nil for a file.
  ///   - lines: connections of `ask`.
  init(_ program: String, postgres: String?, lines: Int = 1) throws {
    let folder = try TemporaryFolder()
    let (process, output) = (Process(), Pipe())
    process.executableURL = URL(fileURLWithPath: program)
    let secretFile = folder.path + "/secret"
    process.arguments =
      ["hub", "serve", "--secret", secretFile, "--listen", "127.0.0.1:0", "--log", "error"]
      + ["--max-requests", "1000000000", "--max-rows", "1000000000"]
      + (postgres.map { ["--postgres", $0] } ?? ["--data", folder.path + "/hub.db"])
    process.standardOutput = output
    try process.run()
    processID = process.processIdentifier
    let text = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
    guard let address = text.split(separator: ",").first,
      let port = address.split(separator: ":").last.flatMap({ UInt16($0) })
    else { throw Failure("\(program) does not serve: \(text)") }
    (url, self.port, self.lines) = (try HubURL(String(address)), port, lines)
    secret = try String(contentsOfFile: secretFile, encoding: .utf8)
      .trimmingCharacters(in: .newlines)
    self.folder.withLock { $0 = folder }
    for _ in 0..<lines {
      let line = try HTTPConnection(port)
      Thread.detachNewThread { [self] in while work(on: line) {} }
    }
  }

  func close() {
    for _ in 0..<lines { add(nil) }
    kill(processID, SIGTERM)
    folder.withLock { $0 = nil }
  }

  private func work(on line: HTTPConnection) -> Bool {
    signal.wait()
    guard let job = jobs.withLock({ $0.removeFirst() }) else { return false }
    job(line)
    return true
  }

  private func add(_ job: Job?) {
    jobs.withLock { $0.append(job) }
    signal.signal()
  }

  /// - Returns: an account's number, and its first device's token.
  func create() throws -> (account: Int64, token: String) {
    let made = try HubMembership.create(at: url, secret: secret, name: "probe")
    return (made.account, made.token)
  }

  func addAccounts(_ count: Int) throws {
    for number in 1...Int64(count) {
      let (account, token) = try create()
      guard account == number else { throw Failure("account \(account) is not the next one") }
      tokens.withLock { $0[account] = token }
    }
  }

  func ask(
    _ account: Int64, _ request: HubRequest,
    _ done: @escaping @Sendable (Result<HubAnswer, any Error>) -> Void
  ) {
    let token = tokens.withLock { $0[account] } ?? ""
    add { line in
      done(
        Result {
          let body = try line.ask("POST /v1/sync", token, try request.text())
          return try body.withUnsafeBufferPointer { try HubAnswer($0) }
        })
    }
  }
}

/// A connection that stays open.
final class HTTPConnection: Sendable {
  private let descriptor: Int32

  init(_ port: UInt16) throws {
    descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    (address.sin_port, address.sin_addr.s_addr) = (port.bigEndian, UInt32(0x7F00_0001).bigEndian)
    let connected = withUnsafePointer(to: address) { address in
      address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
      }
    }
    guard connected == 0 else { throw Failure("the hub is not reached") }
  }

  deinit { close(descriptor) }

  func request(_ head: String, _ token: String, _ body: [UInt8]) throws {
    let fields =
      "\(head) HTTP/1.1\r\nHost: hub\r\nAuthorization: Bearer \(token)\r\n"
      + "Content-Type: application/jsonl\r\nContent-Length: \(body.count)\r\n\r\n"
    var rest = (Array(fields.utf8) + body)[...]
    while !rest.isEmpty {
      let sent = rest.withUnsafeBytes {
        send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
      }
      guard sent > 0 else { throw Failure("the hub hangs up") }
      rest = rest.dropFirst(sent)
    }
  }

  /// - Returns: the body of an answer that has a length.
  func ask(_ head: String, _ token: String, _ body: [UInt8]) throws -> [UInt8] {
    try request(head, token, body)
    var bytes = try read(until: "\r\n\r\n")
    let text = String(decoding: bytes.head, as: UTF8.self)
    // This client shares the processors with the hub, so it must cost little.
    let length = text.range(of: "Content-Length: ").flatMap { field in
      Int(text[field.upperBound...].prefix { $0.isNumber })
    }
    guard text.hasPrefix("HTTP/1.1 200 "), let length else { throw Failure("answered: \(text)") }
    while bytes.rest.count < length { bytes.rest += try more() }
    return bytes.rest
  }

  private func more() throws -> [UInt8] {
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    let count = recv(descriptor, &buffer, buffer.count, 0)
    guard count > 0 else { throw Failure("the hub hangs up") }
    return Array(buffer[..<count])
  }

  /// The bytes up to the end of a text, and those that were read after it.
  func read(until end: String) throws -> (head: [UInt8], rest: [UInt8]) {
    var bytes: [UInt8] = []
    while true {
      bytes += try more()
      if let place = bytes.firstRange(of: Array(end.utf8)) {
        return (Array(bytes[..<place.upperBound]), Array(bytes[place.upperBound...]))
      }
    }
  }
}
