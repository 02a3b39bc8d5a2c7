// SPDX-License-Identifier: Apache-2.0

#if Hub
  import HTTPTypes
  import HummingbirdCore
  import KeepsakeHubServer
  import NIOCore
  import NIOHTTP1
  import NIOHTTPTypes

  /// Limits what a client can do with a connection. It closes the connection of a client that sends
  /// slowly or without end, also after a refusal, or that does not read its answer.
  final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// A channel event: the body is wanted, so a client that waits for `100 Continue` gets it.
    struct SendContinue: Sendable {}

    /// The bytes that are read beyond the limit, so that the client reads the refusal.
    private static let grace = 1 << 20

    private let limits: ServerLimits
    private var count = 0
    /// The size of the body at which its timeout is extended.
    private var nextCount = 0
    /// Whether the last request was read to its end.
    private var isRead = true
    /// Requests whose answers are incomplete: more than one if a client pipelines.
    private var unanswered = 0
    private var isAnswered: Bool { unanswered == 0 }
    /// Whether the client of the last request waits for `100 Continue`.
    private var waits = false
    /// Whether the connection closes after the answer.
    private var isLast = false
    /// Whether the answer is a stream of events, or a poll.
    private var isEventStream = false
    /// The timeout of an answer that is read too slowly.
    private var readEnd: Scheduled<Void>?
    /// The timeout of a head or a body that arrives too slowly.
    private var bodyEnd: Scheduled<Void>?

    init(_ limits: ServerLimits) { self.limits = limits }

    func handlerAdded(context: ChannelHandlerContext) {
      #if os(Linux)
        // A device that vanished does not acknowledge the beats of its stream. Its place is free
        // then, and not after the 15 minutes for which the system retries.
        context.channel.setOption(
          ChannelOptions.tcpOption(.init(rawValue: 18)), value: 30_000  // TCP_USER_TIMEOUT
        ).whenFailure { _ in }
      #endif
      // Start small: an idle connection keeps the buffer of its last request.
      _ = context.channel.setOption(
        ChannelOptions.recvAllocator,
        value: AdaptiveRecvByteBufferAllocator(minimum: 64, initial: 512, maximum: 65_536))
      expectHead(context)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
      readEnd?.cancel()
      bodyEnd?.cancel()
    }

    // MARK: - Requests

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      switch unwrapInboundIn(data) {
      case .head(let head):
        (count, isRead) = (0, false)
        unanswered += 1
        isEventStream = head.path?.prefix { $0 != "?" }.hasSuffix("/events") ?? false
        let length = head.headerFields[.contentLength].flatMap { Int($0) } ?? 0
        waits =
          head.headerFields[.expect]?.lowercased() == "100-continue" && length <= limits.bodyBytes
        expectBody(context)
      case .body(let bytes):
        count += bytes.readableBytes
        guard count <= limits.bodyBytes + Self.grace else { return context.close(promise: nil) }
        if count >= nextCount { expectBody(context) }
      case .end:
        isRead = true
        bodyEnd?.cancel()
        if isAnswered { finish(context) }
      }
      context.fireChannelRead(data)
    }

    /// Starts the timeout of a head, which its bytes do not extend.
    private func expectHead(_ context: ChannelHandlerContext) {
      bodyEnd = schedule(context, after: limits.idle)
    }

    /// Starts the timeout in which a KiB per second, or the rest of the body, has to arrive.
    private func expectBody(_ context: ChannelHandlerContext) {
      bodyEnd?.cancel()
      nextCount = count + max(1, Int(limits.bodyTimeout / .seconds(1) * 1_024))
      bodyEnd = schedule(context, after: limits.bodyTimeout)
    }

    func triggerUserOutboundEvent(
      context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?
    ) {
      guard event is SendContinue else {
        return context.triggerUserOutboundEvent(event, promise: promise)
      }
      sendContinue(context)
    }

    /// Sends `100 Continue`, unless an answer to another request is incomplete.
    private func sendContinue(_ context: ChannelHandlerContext) {
      guard waits, unanswered == 1 else { return }
      waits = false
      context.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      // A client may half-close after a request, and still get its answer. A half-closed event
      // stream is closed.
      if case ChannelEvent.inputClosed? = event as? ChannelEvent, isEventStream, !isAnswered {
        context.close(promise: nil)
      }
      context.fireUserInboundEventTriggered(event)
    }

    /// Answers a head that cannot be parsed: no endpoint gets it.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
      guard let error = error as? HTTPParserError, isAnswered else {
        return context.fireErrorCaught(error)
      }
      let refusal =
        error == .headerOverflow
        ? HubRefusal.tooLarge(limit: "headBytes", limits.headBytes)
        : HubRefusal.malformed("its head is not that of an HTTP request", closes: true)
      context.write(wrapOutboundOut(.head(refusal.response.head)), promise: nil)
      context.write(wrapOutboundOut(.body(.line(refusal.json))), promise: nil)
      context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
      context.close(promise: nil)
    }

    // MARK: - Answers

    func write(
      context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?
    ) {
      switch unwrapOutboundIn(data) {
      case .head(let head): isLast = head.headerFields[.connection] == "close"
      case .body: break
      case .end:
        unanswered -= 1
        context.writeAndFlush(data, promise: promise)
        // If a connection closes before the rest of the request was read, the answer may be lost.
        if isRead || !isAnswered { return finish(context) }
        // The whole rest has to arrive within the timeout of a body.
        bodyEnd?.cancel()
        (nextCount, bodyEnd) = (.max, schedule(context, after: limits.bodyTimeout))
        return
      }
      context.write(data, promise: promise)
    }

    /// Closes the connection, or waits for the next request, once request and answer are complete.
    private func finish(_ context: ChannelHandlerContext) {
      if isLast { return context.close(promise: nil) }
      if isRead && isAnswered { expectHead(context) }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
      readEnd?.cancel()
      readEnd =
        context.channel.isWritable ? nil : schedule(context, after: limits.readTimeout)
      context.fireChannelWritabilityChanged()
    }

    private func schedule(
      _ context: ChannelHandlerContext, after time: Duration
    ) -> Scheduled<Void> {
      let channel = context.channel
      return context.eventLoop.scheduleTask(in: TimeAmount(time)) { channel.close(promise: nil) }
    }
  }
#endif
