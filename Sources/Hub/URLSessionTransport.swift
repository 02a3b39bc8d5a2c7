// SPDX-License-Identifier: Apache-2.0
//
// Sends requests with URLSession, which calls a delegate on its own queue, while the caller's
// thread waits. It follows no redirect, as the target would get the token, and keeps no cookies and
// no cache. Linux compiles this file too, but uses libcurl.

import Foundation
import Synchronization

#if canImport(FoundationNetworking)
  import FoundationNetworking
#endif

#if !os(Linux)
  typealias SystemTransport = URLSessionTransport
#endif

final class URLSessionTransport: HubTransport {
  private let session: URLSession
  private let delegate = Delegate()

  init() {
    let configuration = URLSessionConfiguration.ephemeral
    configuration.httpCookieStorage = nil
    configuration.httpShouldSetCookies = false
    configuration.urlCache = nil
    configuration.requestCachePolicy = .reloadIgnoringLocalCacheData
    // The caller decides how long it waits.
    configuration.timeoutIntervalForRequest = 7 * 86_400
    configuration.timeoutIntervalForResource = 7 * 86_400
    session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: nil)
  }

  /// A session retains its delegate until then.
  deinit { session.invalidateAndCancel() }

  package func begin(_ request: TransportRequest) -> any TransportExchange {
    var foundation = URLRequest(url: request.url)
    foundation.httpMethod = request.method
    foundation.httpBody = request.body.map { Data($0) }
    for (name, value) in request.headers { foundation.setValue(value, forHTTPHeaderField: name) }
    let task = session.dataTask(with: foundation)
    let exchange = QueuedExchange { task.cancel() }
    delegate.add(exchange, task.taskIdentifier)
    task.resume()
    return exchange
  }

  private final class Delegate: NSObject, URLSessionDataDelegate, Sendable {
    private let exchanges = Mutex<[Int: QueuedExchange]>([:])

    func add(_ exchange: QueuedExchange, _ id: Int) { exchanges.withLock { $0[id] = exchange } }

    private func exchange(_ task: URLSessionTask) -> QueuedExchange? {
      exchanges.withLock { $0[task.taskIdentifier] }
    }

    private func remove(_ task: URLSessionTask) -> QueuedExchange? {
      exchanges.withLock { $0.removeValue(forKey: task.taskIdentifier) }
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask,
      willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
      completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
      if let exchange = remove(task) {
        add(response, to: exchange)
        exchange.add(.success(.end))
      }
      completionHandler(nil)
    }

    func urlSession(
      _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
      completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
      if let response = response as? HTTPURLResponse, let exchange = exchange(dataTask) {
        add(response, to: exchange)
      }
      completionHandler(.allow)
    }

    private func add(_ response: HTTPURLResponse, to exchange: QueuedExchange) {
      var headers: [String: String] = [:]
      for (name, value) in response.allHeaderFields {
        headers["\(name)".lowercased()] = "\(value)"
      }
      exchange.add(.success(.head(status: response.statusCode, headers: headers)))
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
      exchange(dataTask)?.add(.success(.body([UInt8](data))))
    }

    func urlSession(
      _ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?
    ) {
      remove(task)?.add(
        error.map { .failure(.failed($0.localizedDescription)) } ?? .success(.end))
    }
  }
}
