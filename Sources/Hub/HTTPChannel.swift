// SPDX-License-Identifier: Apache-2.0

import KeepsakeDevice
import KeepsakeSync
import KeepsakeValues

/// Sends the requests of one sync to a hub, over HTTP.
final class HTTPChannel: HubChannel {
  private let hub: Hub
  let refused: RefusedRows
  /// Nil outside of a session.
  private let known: KnownHub?
  /// The deadline of the sync: a hub might send pages without end.
  private let end: ContinuousClock.Instant
  private static let deadline = Duration.seconds(6 * 3_600)
  /// The maximum total pause of a request to a busy hub.
  private static let busyTimeout = Duration.seconds(60)
  /// The maximum of one such pause.
  private static let longestPause = Duration.seconds(10)
  /// The maximum pause after a refused push.
  private static let longestRetry = Duration.seconds(1)

  init(hub: Hub, refused: RefusedRows = RefusedRows(), known: KnownHub? = nil) {
    (self.hub, self.refused, self.known) = (hub, refused, known)
    end = hub.client.now() + Self.deadline
  }

  private var client: HubClient { hub.client }
  var account: Int64 { hub.account }
  var name: String { client.url.description }

  func encode(_ entry: Entry, limit: Int) -> [UInt8]? {
    guard case .success(let row) = Result(catching: { try entry.row() }) else { return nil }
    var body: [UInt8] = []
    row.write(to: &body)
    return body.count > limit ? nil : body
  }

  func rows(_ request: HubPageRequest) throws(KeepsakeError) -> HubPageAnswer {
    if let answer = known?.answer(to: request, at: client.now()) { return answer }
    var http = HubRequest("GET", hub.path("/rows?\(request.query)"))
    http.answerType = .lines
    if request.isConditional {
      http.headers["If-None-Match"] = "\"\(request.cursor)\""
      http.accepted = [304]
    }
    let response = try send(http)
    var answer = try HubPageAnswer(response, client.url)
    guard response.status != 304 || answer.newest == request.cursor else {
      throw HubFailure.malformed(client.url, "names another mark than the request")
    }
    known?.complete(&answer, at: client.now())
    return answer
  }

  func push(_ upload: HubUpload) throws(KeepsakeError) -> HubUploadResult {
    var http = HubRequest("POST", hub.path("/rows?\(upload.request.query)"), upload.text())
    (http.bodyType, http.accepted) = (.lines, [412])
    http.headers["If-Match"] = "\"\(upload.base)\""
    do throws(KeepsakeError) {
      let response = try send(http)
      if let clock = response.clock { known?.note(clock: clock, at: client.now()) }
      guard response.status != 412 else {
        let answer = try HubPageAnswer(response, client.url)
        known?.note(newest: answer.newest, after: upload.base)
        return .changed(answer)
      }
      let json = JSON.read(response.body)
      guard case .string(let newest)? = json?["newest"], Mark(text: newest) != nil,
        case .boolean(let isNext)? = json?["isNext"]
      else { throw HubFailure.malformed(client.url, "has no mark") }
      known?.note(newest: newest, after: upload.base)
      return .taken(newest: newest, isNext: isNext)
    } catch {
      guard let problem = error.cause as? HubProblem, error.code == .tooLarge,
        !problem.isOfSender
      else { throw error }
      if let row = problem.row, upload.rows.indices.contains(row) { return .tooLarge(row: row) }
      guard upload.rows.count < 2 else { return .pageTooLarge(error) }
      // A page of one row cannot be made smaller. Either the row is too large, or the vectors are.
      let vectors = upload.last?.vectors.json.text().utf8.count ?? 0
      guard let row = upload.rows.first, row.body.count >= vectors else { throw error }
      return .tooLarge(row: 0)
    }
  }

  func forget(_ deletions: [Address], newest: String) throws(KeepsakeError) {
    var rest = deletions[...]
    while !rest.isEmpty {
      var body = Array("{\"rows\":\(min(rest.count, 1_000))}\n".utf8)
      for address in rest.prefix(1_000) {
        JSON.object([JSON.Member("key", .string(address.hubKey))]).write(to: &body)
        body.append(UInt8(ascii: "\n"))
      }
      var http = HubRequest("POST", hub.path("/forget?cursor=\(newest)&rows=1"), body)
      (http.bodyType, http.answerType, http.accepted) = (.lines, .lines, [412])
      http.headers["If-Match"] = "\"\(newest)\""
      // The hub has rows that this device has not read.
      if try send(http).status == 412 { return }
      rest = rest.dropFirst(1_000)
    }
  }

  func pause(after attempts: Int) {
    let longest = min(.milliseconds(10 << attempts), Self.longestRetry)
    client.pause(longest * Double.random(in: 0...1))
  }

  /// Sends a request, and retries while the hub is busy: a busy hub has changed nothing.
  private func send(_ request: HubRequest) throws(KeepsakeError) -> HubResponse {
    var (request, left) = (request, Self.busyTimeout)
    request.end = end
    while true {
      do throws(KeepsakeError) {
        return try client.send(request)
      } catch {
        guard let problem = error.cause as? HubProblem, problem.isBusy,
          let seconds = problem.retryAfter
        else { throw error }
        let pause = Duration.seconds(max(1, seconds))
        guard pause <= min(Self.longestPause, left) else { throw error }
        left -= pause
        client.pause(pause)
      }
    }
  }
}
