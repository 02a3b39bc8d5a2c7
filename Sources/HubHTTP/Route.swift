// SPDX-License-Identifier: Apache-2.0

#if Hub
  import HTTPTypes

  /// What a hub can be asked, as logs and metrics call it: N stands for a number.
  enum Route: String, CaseIterable {
    case health = "GET /health"
    case ready = "GET /ready"
    case greeting = "GET /v1"
    case create = "POST /v1/accounts"
    case join = "POST /v1/devices"
    case sync = "POST /v1/sync"
    case events = "GET /v1/events"
    case invite = "POST /v1/invitations"
    case list = "GET /v1/devices"
    case revoke = "DELETE /v1/devices/N"
    case retire = "POST /v1/devices/N/retire"
    case export = "GET /v1/export"
    case delete = "DELETE /v1/account"

    private static let table = allCases.map { route in
      let words = route.rawValue.split(separator: " ")
      return (route: route, method: words[0], path: words[1].split(separator: "/"))
    }

    /// - Parameter path: its parts.
    /// - Throws: a problem where there is no such path, or another method of it.
    static func find(_ method: HTTPRequest.Method, _ path: [Substring]) throws -> Route {
      let here = table.filter { entry in
        entry.path.count == path.count
          && zip(entry.path, path).allSatisfy { $0 == "N" || $0 == $1 }
      }
      guard !here.isEmpty else { throw Problem.path("there is no such path") }
      guard let found = here.first(where: { $0.method == method.rawValue }) else {
        throw Problem.method(here.map { String($0.method) }.sorted().joined(separator: ", "))
      }
      return found.route
    }
  }
#endif
