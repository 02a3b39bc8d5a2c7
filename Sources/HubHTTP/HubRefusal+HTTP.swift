// SPDX-License-Identifier: Apache-2.0

#if Hub
  import HTTPTypes
  import Hummingbird
  import KeepsakeHubServer
  import KeepsakeValues
  import NIOCore

  /// Refusals as answers: `application/problem+json`.
  extension HubRefusal {
    /// - Parameter error: why a request fails.
    static func of(_ error: any Error) -> HubRefusal {
      switch error {
      case let error as HubRefusal: error
      case let error as any HTTPResponseError where error.status == .notFound:
        path("there is no such path, or it has no such method")
      case let error as any HTTPResponseError:
        HubRefusal(error.status.code, "malformed", "the request cannot be read")
      // The error names paths and hosts of the hub, which are for its log alone.
      case HubStoreError.unavailable:
        HubRefusal(503, "unavailable", "the hub's database does not answer now", retryAfter: 5)
      default: HubRefusal(503, "unavailable", "the hub's database fails", retryAfter: 60)
      }
    }

    var response: Response {
      var fields: HTTPFields = [
        .contentType: "application/problem+json", .cacheControl: "no-store",
      ]
      if let retryAfter { fields[.retryAfter] = String(retryAfter) }
      if status == 401 { fields[.wwwAuthenticate] = "Bearer" }
      if closes { fields[.connection] = "close" }
      return Response(
        status: HTTPResponse.Status(code: status), headers: fields,
        body: ResponseBody(byteBuffer: .line(json)))
    }
  }

  extension ByteBuffer {
    /// JSON with a line break.
    static func line(_ json: JSON) -> ByteBuffer {
      ByteBuffer(string: json.text() + "\n")
    }
  }
#endif
