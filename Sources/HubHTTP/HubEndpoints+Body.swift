// SPDX-License-Identifier: Apache-2.0

#if Hub
  import HTTPTypes
  import Hummingbird
  import KeepsakeHubServer
  import KeepsakeValues
  import NIOCore

  extension HubEndpoints {
    enum BodyLimit: String { case bodyBytes, objectBytes }

    func length(of request: Request, _ limit: BodyLimit = .bodyBytes) throws -> Int {
      guard let length = request.headers[.contentLength].flatMap({ Int($0) }) else {
        throw HubRefusal(411, "length", "the request has no Content-Length")
      }
      let limits = settings.limits
      let most = limit == .bodyBytes ? limits.bodyBytes : limits.objectBytes
      guard length <= most else { throw HubRefusal.tooLarge(limit: limit.rawValue, most) }
      return length
    }

    /// The lines of a request, and their share of memory, which is held while they are used.
    func body(
      of request: Request, from sender: HubSender, _ context: HubContext
    ) async throws -> (bytes: [UInt8], share: BytesInFlight.Share) {
      let share = try inFlight.take(try length(of: request), for: sender)
      return (try await body(of: request, "application/jsonl", context, .bodyBytes), share)
    }

    private func body(
      of request: Request, _ type: String, _ context: HubContext, _ limit: BodyLimit
    ) async throws -> [UInt8] {
      let given = request.headers[.contentType]?.split(separator: ";").first.map(String.init)
      guard given?.lowercased() == type else {
        throw HubRefusal.malformed("the type of its body is not \(type)")
      }
      let length = try length(of: request, limit)
      context.channel.triggerUserOutboundEvent(ConnectionGuard.SendContinue(), promise: nil)
      var bytes: [UInt8] = []
      bytes.reserveCapacity(length)
      do {
        for try await piece in request.body { bytes += piece.readableBytesView }
      } catch {
        throw HubRefusal.malformed("its body ends before its end", closes: true)
      }
      return bytes
    }

    /// The text members of a JSON body, in the order of `names`.
    func members(
      of request: Request, _ context: HubContext, named names: String...
    ) async throws -> [String] {
      let bytes = try await body(of: request, "application/json", context, .objectBytes)
      let json: JSON
      do {
        json = try JSON(parsing: String(validating: bytes, as: UTF8.self) ?? "")
      } catch {
        throw HubRefusal.malformed("its body is no JSON: \(error)")
      }
      return try names.map { name in
        guard case .string(let value)? = json[name] else {
          throw HubRefusal.malformed("it has no text \"\(name)\"")
        }
        return value
      }
    }
  }
#endif
