// SPDX-License-Identifier: Apache-2.0

#if Hub
  import HTTPTypes
  import Hummingbird
  import KeepsakeHubServer
  import KeepsakeValues
  import NIOCore
  import ServiceLifecycle

  extension Endpoints {
    /// Between comments that keep a silent stream alive.
    private static let beat = Duration.seconds(25)

    func events(
      _ request: Request, _ member: HubMember, _ channel: any Channel
    ) async throws -> Response {
      let query = request.uri.queryParameters
      let after = try number(query["after"].map(String.init), "after", 0...(1 << 53))
      let wait = try number(query["wait"].map(String.init), "wait", 0...55)
      let listener = listeners.add(member, most: settings.limits.streams)
      // A stream's place is freed when the connection closes, not at the next beat. Where it has
      // closed before the answer begins, the server never runs the answer's body.
      channel.closeFuture.whenComplete { [listeners, weak listener] _ in
        if let listener { listeners.remove(listener) }
      }
      do {
        // A revocation from now on ends the stream; one from before `add` is found here.
        _ = try await accounts(at: settings.now()) { try $0.authenticate(member.tokenHash) }
        // The listener is there already, so it hears a push that is committed meanwhile.
        listener.hear(try await account(member.account) { try $0.account.seq })
      } catch {
        listeners.remove(listener)
        throw error
      }
      if let after { return await poll(listener, after, wait ?? 0) }
      return stream(listener)
    }

    private func number(
      _ text: String?, _ name: String, _ range: ClosedRange<Int64>
    ) throws -> Int64? {
      guard let text else { return nil }
      guard let number = Int64(text), range.contains(number) else {
        throw Problem.malformed(
          "\(name) is no number from \(range.lowerBound) to \(range.upperBound)")
      }
      return number
    }

    private func poll(_ listener: Listener, _ after: Int64, _ wait: Int64) async -> Response {
      let clock = Task { [settings] in
        // Cancelled when there is nothing left to end.
        do { try await settings.sleep(.seconds(wait)) } catch { return }
        listener.end()
      }
      await withGracefulShutdownHandler {
        for await _ in listener.wakes where listener.heard > after { break }
      } onGracefulShutdown: {
        listener.end()
      }
      clock.cancel()
      listeners.remove(listener)
      return json(.object(["seq": .integer(listener.heard)]))
    }

    private func stream(_ listener: Listener) -> Response {
      Response(
        status: .ok,
        headers: [.contentType: "text/event-stream", .cacheControl: "no-store"],
        body: ResponseBody { writer in
          let beats = Task { await beat(listener) }
          defer {
            beats.cancel()
            listeners.remove(listener)
          }
          var told: Int64 = -1
          try await withGracefulShutdownHandler {
            for await _ in listener.wakes {
              let heard = listener.heard
              let text =
                heard > told ? "id: \(heard)\ndata: {\"seq\":\(heard)}\n\n" : ":\n\n"
              told = heard
              try await writer.write(ByteBuffer(string: text))
            }
          } onGracefulShutdown: {
            listener.end()
          }
          try await writer.finish(nil)
        })
    }

    /// Wakes a stream now and then, and ends it once its device may not listen any more: another
    /// process of the hub may have revoked it.
    private func beat(_ listener: Listener) async {
      let member = listener.member
      while !Task.isCancelled {
        do {
          try await settings.sleep(Self.beat)
          _ = try await accounts(at: settings.now()) { try $0.authenticate(member.tokenHash) }
          listener.wake()
        } catch {
          // Also when the database fails: the device connects again, and is told why.
          return listener.end()
        }
      }
    }
  }
#endif
