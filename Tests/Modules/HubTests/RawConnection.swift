// SPDX-License-Identifier: Apache-2.0

#if Hub
  import Dispatch
  import Foundation
  import Testing

  /// A connection that sends exactly what a test writes.
  final class RawConnection: Sendable {
    struct Answer: Equatable {
      var status = 0
      /// Lines of the head, in lower case.
      var head: [String] = []
      var text = ""
    }

    private let descriptor: Int32
    /// Calls that wait do so here, where no task of the server has to run.
    private let queue = DispatchQueue(label: "raw connection", attributes: .concurrent)

    init(_ port: Int) throws {
      descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = UInt16(port).bigEndian
      address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
      // A test that waits for what never comes fails, and does not hang.
      var patience = timeval(tv_sec: 60, tv_usec: 0)
      let size = socklen_t(MemoryLayout<timeval>.size)
      for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
        try #require(setsockopt(descriptor, SOL_SOCKET, option, &patience, size) == 0)
      }
      let connected = withUnsafePointer(to: address) { address in
        address.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
        }
      }
      try #require(connected == 0)
    }

    deinit { close(descriptor) }

    private func wait<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
      await withCheckedContinuation { continuation in
        queue.async { continuation.resume(returning: body()) }
      }
    }

    /// - Returns: whether all of it was taken.
    @discardableResult
    func say(_ text: String) async -> Bool {
      await wait { [descriptor] in
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
          let sent = bytes.withUnsafeBytes {
            send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
          }
          guard sent > 0 else { return false }
          bytes = bytes.dropFirst(sent)
        }
        return true
      }
    }

    /// Half-closes the connection: it sends nothing more, and still reads.
    func endSending() { shutdown(descriptor, Int32(SHUT_WR)) }
    /// Closes both directions.
    func end() { shutdown(descriptor, Int32(SHUT_RDWR)) }

    /// Reads until a text arrives, or up to the end of the connection, or a reset.
    func read(until end: String? = nil) async throws -> String {
      try await read { end.map($0.contains) ?? false }
    }

    private func read(
      _ isEnough: @escaping @Sendable (String) -> Bool
    ) async throws -> String {
      let (text, error) = await wait { [descriptor] () -> (String, Int32) in
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while true {
          let count = recv(descriptor, &byte, 1, 0)
          guard count > 0 else {
            let isReset = count < 0 && errno == ECONNRESET
            return (String(decoding: bytes, as: UTF8.self), count < 0 && !isReset ? errno : 0)
          }
          bytes.append(byte)
          let text = String(decoding: bytes, as: UTF8.self)
          if isEnough(text) { return (text, 0) }
        }
      }
      try #require(error == 0, "after \(text.suffix(200)): \(String(cString: strerror(error)))")
      return text
    }

    /// Reads the next answer, which has a length.
    func answer() async throws -> Answer {
      let head = try await read(until: "\r\n\r\n")
      var answer = Answer()
      answer.head = head.split(separator: "\r\n").map { $0.lowercased() }
      answer.status = Int(head.split(separator: " ").dropFirst().first ?? "") ?? 0
      let length = answer.head.firstMatch(prefix: "content-length: ").flatMap { Int($0) } ?? 0
      if length > 0 { answer.text = try await read { $0.utf8.count == length } }
      return answer
    }
  }

  extension [String] {
    /// The text after a prefix, in the first line that has it.
    fileprivate func firstMatch(prefix: String) -> Substring? {
      first { $0.hasPrefix(prefix) }?.dropFirst(prefix.count)
    }
  }

  extension RunningHub {
    func connect() throws -> RawConnection { try RawConnection(port) }

    /// A request's head with its last line.
    static func head(
      _ line: String, _ token: String? = nil, _ fields: [String] = []
    ) -> String {
      let all =
        ["\(line) HTTP/1.1", "Host: hub"]
        + (token.map { ["Authorization: Bearer \($0)"] } ?? []) + fields
      return all.map { $0 + "\r\n" }.joined() + "\r\n"
    }

    /// A push of a device that sends its head, and its body never.
    func pushHead(of device: TestDevice, _ bytes: Int) async throws -> RawConnection {
      let connection = try connect()
      await connection.say(device.head("Content-Length: \(bytes)", "Expect: 100-continue"))
      #expect(try await connection.answer().status == 100)
      return connection
    }

    /// A device's stream, of which the first event was read.
    func stream(of device: TestDevice) async throws -> RawConnection {
      let stream = try connect()
      await stream.say(Self.head("GET " + device.path("/events"), device.token))
      _ = try await stream.read(until: "data: ")
      return stream
    }
  }

  extension TestDevice {
    /// The head of a push, or of another request with rows.
    func head(
      _ fields: String..., of path: String = "/rows?replica=r",
      upon newest: String = "0-0000000000000000"
    ) -> String {
      RunningHub.head(
        "POST " + self.path(path), token,
        ["Content-Type: application/jsonl", "If-Match: \(newest)"] + fields)
    }
  }
#endif
