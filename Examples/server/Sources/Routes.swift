// SPDX-License-Identifier: Apache-2.0

import Hummingbird
import Keepsake

/// The page, and its settings. Whoever reaches the port may write: this is an example.
func routes(_ settings: ServerSettings) -> Router<BasicRequestContext> {
  let router = Router()
  router.get("/") { _, _ in "\(settings.greeting), \(settings.name)!\n" }
  // Where a value comes from, and what it hides.
  router.get("settings/:key") { _, context in
    "\(try settings.explain(key(context)))\n"
  }
  router.put("settings/:key") { request, context in
    let text = try await request.body.collect(upTo: 4096)
    do {
      try settings.write(.string(String(buffer: text)), for: key(context))
      return Response(status: .noContent)
    } catch let error as KeepsakeError where error.code == .managed {
      throw HTTPError(.forbidden, message: "\(error)")
    }
  }
  return router
}

private func key(_ context: BasicRequestContext) throws -> String {
  let key = try context.parameters.require("key")
  guard ["greeting", "name"].contains(key) else { throw HTTPError(.notFound) }
  return key
}
