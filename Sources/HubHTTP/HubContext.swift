// SPDX-License-Identifier: Apache-2.0

#if Hub
  import HTTPTypes
  import Hummingbird
  import KeepsakeHubServer
  import KeepsakeValues
  import Logging
  import NIOCore

  /// A request's context: its connection, and the account and device of its path.
  struct HubContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
      (coreContext, channel) = (.init(source: source), source.channel)
    }

    /// The account of the path.
    var account: Int64 {
      get throws {
        guard let account = HexNumber.number(parameters.get("account") ?? ""),
          (1..<1 << 62).contains(account)
        else { throw HubRefusal.path("an account's ID has 16 lowercase hexadecimal digits") }
        return account
      }
    }

    /// The device's number in the path.
    var device: Int64 {
      get throws {
        guard let number = Int64(parameters.get("device") ?? "") else {
          throw HubRefusal.path("a device has a number")
        }
        return number
      }
    }
  }

  /// Answers each error as a problem; logs and counts each request.
  struct AnswerMiddleware: MiddlewareProtocol {
    let settings: HubServer.Settings
    let metrics: HubMetrics

    func handle(
      _ request: Request, context: HubContext,
      next: (Request, HubContext) async throws -> Response
    ) async throws -> Response {
      let start = ContinuousClock.now
      var response: Response
      do {
        response = try await next(request, context)
      } catch {
        log(error)
        response = HubRefusal.of(error).response
      }
      let duration = ContinuousClock.now - start
      // The router names unknown requests `NotFound`.
      let path = context.endpointPath.flatMap { $0.hasPrefix("/") ? $0 : nil }
      let route = path.map { "\(request.method.rawValue) \($0)" } ?? "other"
      metrics.answered(route, Int(response.status.code), in: duration)
      settings.logger.debug(
        "request",
        metadata: [
          "request": "\(route)", "status": "\(response.status.code)",
          "account": "\(context.parameters.get("account") ?? "none")",
          "seconds": "\(duration / .seconds(1))",
        ])
      return response
    }

    /// Logs what the device must not get: paths and hosts.
    private func log(_ error: any Error) {
      switch error {
      case HubStoreError.broken(let problem), HubStoreError.unavailable(let problem):
        settings.logger.error("the database fails", metadata: ["problem": "\(problem)"])
      case is HubRefusal, is any HTTPResponseError: break
      default:
        // Only the type of an unexpected error: its text may have values.
        settings.logger.error("a request fails", metadata: ["error": "\(type(of: error))"])
      }
    }
  }
#endif
