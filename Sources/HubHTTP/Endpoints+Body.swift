// SPDX-License-Identifier: Apache-2.0

#if Hub
  import HTTPTypes
  import Hummingbird
  import KeepsakeHubServer
  import KeepsakeValues
  import NIOCore

  extension Endpoints {
    /// A request's body, as long as it is no larger than it may be and comes in time.
    func body(of request: Request, _ type: String, most: Int) async throws -> [UInt8] {
      let given = request.headers[.contentType]?.split(separator: ";").first.map(String.init)
      guard given?.lowercased() == type else {
        throw Problem.malformed("the type of its body is not \(type)")
      }
      // Unpacked, a body may be a thousand times as large as what came.
      guard ["", "identity"].contains(request.headers[.contentEncoding]?.lowercased() ?? "") else {
        throw Problem.malformed("its body is packed, and a hub unpacks none")
      }
      let announced = request.headers[.contentLength].flatMap { Int($0) } ?? 0
      guard announced <= most else { throw Problem.tooLarge(most) }
      return try await withThrowingTaskGroup(of: [UInt8]?.self) { group in
        group.addTask { try await Self.read(request.body, most) }
        group.addTask { [settings] in
          try await settings.sleep(Self.patience)
          return nil
        }
        defer { group.cancelAll() }
        if let bytes = try await group.next() ?? nil { return bytes }
        throw Problem.cutOff("its body did not come within 30 seconds")
      }
    }

    private static let patience = Duration.seconds(30)

    private static func read(_ body: RequestBody, _ most: Int) async throws -> [UInt8] {
      var bytes: [UInt8] = []
      do {
        for try await piece in body {
          guard bytes.count + piece.readableBytes <= most else { throw Problem.tooLarge(most) }
          bytes += piece.readableBytesView
        }
      } catch let problem as Problem {
        throw problem
      } catch {
        throw Problem.cutOff("its body ends before its end")
      }
      return bytes
    }

    /// Members of an object, all of them text.
    func members(_ request: Request, _ names: String...) async throws -> [String] {
      let bytes = try await body(of: request, "application/json", most: 4_096)
      guard let text = String(validating: bytes, as: UTF8.self),
        case .object(let members) = try parsed(text)
      else { throw Problem.malformed("its body is no JSON object") }
      return try names.map { name in
        guard case .string(let value) = members.first(where: { $0.name == name })?.value else {
          throw Problem.malformed("it has no text \"\(name)\"")
        }
        return value
      }
    }

    private func parsed(_ text: String) throws -> JSON {
      do {
        return try JSON(parsing: text)
      } catch {
        throw Problem.malformed("\(error)")
      }
    }
  }
#endif
