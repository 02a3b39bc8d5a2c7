// SPDX-License-Identifier: Apache-2.0

#if Hub
  import HTTPTypes
  import Hummingbird
  import KeepsakeHubServer
  import KeepsakeValues
  import NIOCore
  import ServiceLifecycle

  extension HubEndpoints {
    /// The interval between comments, which keep a stream without events alive.
    private static let beat = Duration.seconds(25)
    /// The pause after an event, which merges the next events into one. An account has many
    /// listeners, and each would get an event for each push of each other device.
    private static let pause = Duration.milliseconds(100)

    func events(_ request: Request, _ context: HubContext) async throws -> Response {
      let account = try context.account
      let token = try await token(request, account)
      let query = request.uri.queryParameters
      let after = query["after"].map(String.init)
      let wait = try number(query["wait"].map(String.init), named: "wait", in: 0...55)
      if after != nil, wait ?? 0 == 0 {
        // A poll that does not wait is no stream.
        let work = accounts.authenticate(account, token: token.hash)
        return json(.object(["newest": .string(try await run(work).newest.text)]))
      }
      let listener = try listeners.add(account, token, limit: settings.limits.streams)
      do {
        // The listener is registered first, so it gets the event of a push that is committed
        // meanwhile.
        try await read(listener)
      } catch {
        listeners.remove(listener)
        throw error
      }
      // The listener is removed when the connection closes, not at the next beat. If it closes
      // before the answer begins, the server never runs the body of a stream's answer.
      context.channel.closeFuture.whenComplete { [listeners, weak listener] _ in
        if let listener { listeners.remove(listener) }
      }
      if let after {
        try await follow(listener, beat: .seconds(wait ?? 0), isPoll: true) { $0.text == after }
        return json(.object(["newest": .string(listener.newest.text)]))
      }
      return stream(listener)
    }

    /// Reads the newest mark, and whether the device may still listen.
    private func read(_ listener: EventListener) async throws {
      let count = listener.count
      let work = accounts.authenticate(listener.account, token: listener.token.hash)
      listener.take(try await run(work).newest, since: count)
    }

    private func stream(_ listener: EventListener) -> Response {
      Response(
        status: .ok,
        headers: [
          .contentType: "text/event-stream", .cacheControl: "no-store", .buffering: "no",
          // A connection has at most one stream.
          .connection: "close",
        ],
        body: ResponseBody { writer in
          var sent: HubMark?
          try await follow(listener, beat: Self.beat, isPoll: false) { newest in
            let text =
              newest == sent
              ? ":\n\n" : "id: \(newest.text)\ndata: {\"newest\":\"\(newest.text)\"}\n\n"
            try await writer.write(ByteBuffer(string: text))
            if newest != sent { try await settings.sleep(Self.pause) }
            sent = newest
            return true
          }
          try await writer.finish(nil)
        })
    }

    /// Calls a body at once, with each newest mark and at each beat, until it returns false or the
    /// listener ends. A poll ends with its first beat.
    private func follow(
      _ listener: EventListener, beat: Duration, isPoll: Bool,
      _ body: (_ newest: HubMark) async throws -> Bool
    ) async throws {
      let beats = Task { await wake(listener, beat: beat, isPoll: isPoll) }
      defer {
        beats.cancel()
        listeners.remove(listener)
      }
      try await withGracefulShutdownHandler {
        for await _ in listener.wakes {
          guard try await body(listener.newest) else { break }
        }
      } onGracefulShutdown: {
        listener.end()
      }
    }

    /// Reads the newest mark at each beat: the announcement of another process of the hub may be
    /// lost. Ends the listener if its device may no longer listen: another process may have revoked
    /// it.
    private func wake(_ listener: EventListener, beat: Duration, isPoll: Bool) async {
      repeat {
        do {
          try await settings.sleep(beat)
          try await read(listener)
        } catch {
          // If the database fails, the device connects again, and gets the reason.
          break
        }
      } while !isPoll && !Task.isCancelled
      listener.end()
    }
  }
#endif
