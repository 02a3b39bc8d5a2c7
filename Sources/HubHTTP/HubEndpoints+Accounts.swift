// SPDX-License-Identifier: Apache-2.0

#if Hub
  import HTTPTypes
  import Hummingbird
  import KeepsakeHubServer
  import KeepsakeValues
  import Logging

  extension HubEndpoints {
    func create(_ request: Request, _ context: HubContext) async throws -> Response {
      try rates.countUnknownRequest(at: settings.now())
      let words = (request.headers[.authorization] ?? "").split(separator: " ")
      // The time of this comparison may show the first bytes of a hash. They do not help to guess a
      // secret of 32 characters or more.
      guard !settings.secret.isEmpty, words.count == 2, words[0].lowercased() == "bearer",
        SHA256.hash(String(words[1])) == SHA256.hash(settings.secret)
      else {
        throw HubRefusal(401, "token", "this is not the operator's secret")
      }
      let account = try context.account
      let given = try await members(of: request, context, named: "name", "token")
      let token = try token(given[1], account)
      let (number, isNew) = try await run(
        accounts.create(account, name: given[0], token: token.hash))
      if isNew { note("an account was made", account, device: number) }
      return admitted(account, number, isNew: isNew)
    }

    func join(_ request: Request, _ context: HubContext) async throws -> Response {
      try rates.countUnknownRequest(at: settings.now())
      let account = try context.account
      let given = try await members(of: request, context, named: "code", "name", "token")
      let (code, token) = (SHA256.hash(given[0]), try token(given[2], account))
      let (number, isNew) = try await run(
        accounts.join(account, code: code, name: given[1], token: token.hash))
      if isNew { note("a device has joined", account, device: number) }
      return admitted(account, number, isNew: isNew)
    }

    /// Checks a new token, which the device has made.
    private func token(_ text: String, _ account: Int64) throws -> AccountToken {
      guard Secrets.isSecret(text) else {
        throw HubRefusal.malformed("a token is 32 random bytes as base64url, 43 characters")
      }
      return AccountToken(text, account: account)
    }

    private func admitted(_ account: Int64, _ number: Int64, isNew: Bool) -> Response {
      json(
        .object(["account": .string(HexNumber.text(account)), "device": .integer(number)]),
        isNew ? .created : .ok)
    }

    func invite(_ request: Request, _ context: HubContext) async throws -> Response {
      let account = try context.account
      let token = try await token(request, account)
      let code = "\(HexNumber.text(account)).\(Secrets.random())"
      let ends = try await run(
        accounts.invite(account, token: token.hash, code: SHA256.hash(code)))
      return json(.object(["code": .string(code), "ends": .integer(ends)]), .created)
    }

    func list(_ request: Request, _ context: HubContext) async throws -> Response {
      let account = try context.account
      let token = try await token(request, account)
      let (all, own) = try await run(accounts.list(account, token: token.hash))
      let devices = all.map { device in
        JSON.object([
          "device": .integer(device.number), "name": .string(device.name),
          "created": .integer(device.created), "lastUse": .integer(device.lastUse),
          "self": device.number == own ? .boolean(true) : nil,
        ])
      }
      return json(
        .object(["account": .string(HexNumber.text(account)), "devices": .array(devices)]))
    }

    func rename(_ request: Request, _ context: HubContext) async throws -> Response {
      let (account, device) = (try context.account, try context.device)
      let token = try await token(request, account)
      let name = try await members(of: request, context, named: "name")[0]
      try await run(accounts.rename(account, token: token.hash, device: device, to: name))
      return Response(status: .noContent)
    }

    func revoke(_ request: Request, _ context: HubContext) async throws -> Response {
      let (account, device) = (try context.account, try context.device)
      let token = try await token(request, account)
      try await run(accounts.revoke(account, token: token.hash, device: device))
      note("a device was revoked", account, device: device)
      rates.forget(account)
      listeners.end(account)
      return Response(status: .noContent)
    }

    func delete(_ request: Request, _ context: HubContext) async throws -> Response {
      let account = try context.account
      let token = try await token(request, account)
      try await run(accounts.delete(account, token: token.hash))
      note("an account was deleted", account, device: 0)
      rates.forget(account)
      listeners.end(account)
      return Response(status: .noContent)
    }

    private func note(_ message: Logger.Message, _ account: Int64, device: Int64) {
      settings.logger.info(
        message, metadata: ["account": "\(HexNumber.text(account))", "device": "\(device)"])
    }
  }
#endif
