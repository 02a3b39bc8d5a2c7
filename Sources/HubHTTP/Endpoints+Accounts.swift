// SPDX-License-Identifier: Apache-2.0

#if Hub
  import HTTPTypes
  import Hummingbird
  import KeepsakeHubServer
  import KeepsakeValues
  import Logging

  extension Endpoints {
    func create(_ request: Request) async throws -> Response {
      guard !settings.secret.isEmpty, Secrets.areEqual(try token(request), settings.secret) else {
        throw Problem(
          .unauthorized, "token", "this is not the operator's secret",
          cure: "ask who runs the hub for it")
      }
      let name = try await members(request, "name")[0]
      let (token, now) = (Secrets.random(), settings.now())
      let hash = Secrets.hash(token)
      let member = try await accounts(at: now) {
        try $0.create(.random(), name: name, token: hash)
      }
      note("an account was made", member)
      return admitted(member, token)
    }

    func join(_ request: Request) async throws -> Response {
      let given = try await members(request, "code", "name")
      let (token, now) = (Secrets.random(), settings.now())
      let (code, hash) = (Secrets.hash(given[0]), Secrets.hash(token))
      let member = try await accounts(at: now) {
        try $0.join(code: code, name: given[1], token: hash)
      }
      note("a device has joined", member)
      return admitted(member, token)
    }

    private func admitted(_ member: HubMember, _ token: String) -> Response {
      json(
        .object([
          "account": .integer(member.account), "device": .integer(member.number),
          "token": token.json,
        ]), .created)
    }

    /// What changes who may do what is logged, by numbers.
    func note(_ message: Logger.Message, _ member: HubMember, device: Int64? = nil) {
      settings.logger.info(
        message,
        metadata: ["account": "\(member.account)", "device": "\(device ?? member.number)"])
    }
  }
#endif
