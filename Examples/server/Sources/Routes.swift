// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import Keepsake

/// The page, and its settings. Whoever reaches the port may write: this is an example.
func routes(_ configuration: ServerConfiguration) -> Router<BasicRequestContext> {
  let router = Router()
  router.get("/") { _, _ in
    let greeting = try await configuration.text("greeting")
    return "\(greeting), \(try await configuration.text("name"))!\n"
  }
  router.put("settings/:key") { request, context in
    let key = try context.parameters.require("key")
    guard ["greeting", "name"].contains(key) else { throw HTTPError(.notFound) }
    guard !configuration.isManaged(key) else {
      throw HTTPError(.forbidden, message: "the environment has \(key); change it there")
    }
    let text = try await request.body.collect(upTo: 4096)
    try configuration.settings.write(.string(String(buffer: text)), for: key)
    return Response(status: .noContent)
  }
  return router
}
