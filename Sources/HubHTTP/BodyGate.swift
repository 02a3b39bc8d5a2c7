// SPDX-License-Identifier: Apache-2.0

#if Hub
  import HTTPTypes
  import HummingbirdCore
  import KeepsakeHubServer
  import NIOCore
  import NIOHTTP1
  import NIOHTTPTypes

  /// Bounds what a client can do with a connection: it closes the connection of a client that sends
  /// slowly or without end, also after a refusal, or that does not read its answer.
  final class BodyGate: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// An event: the body is wanted. A client that waits for `100 Continue` gets it then.
    struct GoOn: Sendable {}

    /// Bytes beyond the limit, so that the answer that refuses them is read.
    private static let grace = 1 << 20

    private let limits: ServerLimits
    private var count = 0
    /// How much of the body has to be there before the time for it is prolonged.
    private var nextCount = 0
    /// Whether the last request has come to its end.
    private var isRead = true
    /// Requests without the end of their answers: more than one where a device does not wait.
    private var unanswered = 0
    private var isAnswered: Bool { unanswered == 0 }
    /// Whether the client of the last request waits for `100 Continue`.
    private var waits = false
    /// Whether nothing follows the answer.
    private var isLast = false
    /// Whether the answer goes on for as long as its device listens.
    private var isHeard = false
    /// Ends an answer that is read too slowly.
    private var readEnd: Scheduled<Void>?
    /// Ends a head or a body that comes too slowly.
    private var bodyEnd: Scheduled<Void>?

    init(_ limits: ServerLimits) { self.limits = limits }

    func handlerAdded(context: ChannelHandlerContext) {
      #if os(Linux)
        // A device that vanished acknowledges no beat of its stream. Its place is free then, and
        // not after the 15 minutes for which the system retries.
        context.channel.setOption(
          ChannelOptions.tcpOption(.init(rawValue: 18)), value: 30_000  // TCP_USER_TIMEOUT
        ).whenFailure { _ in }
      #endif
      // An idle connection keeps the buffer of its last request.
      _ = context.channel.setOption(
        ChannelOptions.recvAllocator,
        value: AdaptiveRecvByteBufferAllocator(minimum: 64, initial: 512, maximum: 65_536))
      expectHead(context)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
      readEnd?.cancel()
      bodyEnd?.cancel()
    }

    // MARK: - What comes

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      switch unwrapInboundIn(data) {
      case .head(let head):
        (count, isRead) = (0, false)
        unanswered += 1
        isHeard = head.path?.prefix { $0 != "?" }.hasSuffix("/events") ?? false
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

    /// A connection may be idle for so long, and a head must not prolong it byte by byte.
    private func expectHead(_ context: ChannelHandlerContext) {
      bodyEnd = schedule(context, after: limits.idle)
    }

    /// Within the time for a body a KiB per second has to come, or the rest of it.
    private func expectBody(_ context: ChannelHandlerContext) {
      bodyEnd?.cancel()
      nextCount = count + max(1, Int(limits.bodyTimeout / .seconds(1) * 1_024))
      bodyEnd = schedule(context, after: limits.bodyTimeout)
    }

    func triggerUserOutboundEvent(
      context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?
    ) {
      guard event is GoOn else {
        return context.triggerUserOutboundEvent(event, promise: promise)
      }
      goOn(context)
    }

    /// Within the answer to another request it would be a part of that one.
    private func goOn(_ context: ChannelHandlerContext) {
      guard waits, unanswered == 1 else { return }
      waits = false
      context.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      // A client may half-close after a request, and still get its answer. A half-closed event
      // stream is closed.
      if case ChannelEvent.inputClosed? = event as? ChannelEvent, isHeard, !isAnswered {
        context.close(promise: nil)
      }
      context.fireUserInboundEventTriggered(event)
    }

    /// A head that cannot be read is no request, so no endpoint answers it.
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

    // MARK: - What goes

    func write(
      context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?
    ) {
      switch unwrapOutboundIn(data) {
      case .head(let head): isLast = head.headerFields[.connection] == "close"
      case .body: break
      case .end:
        unanswered -= 1
        context.writeAndFlush(data, promise: promise)
        // Closed before the rest of the request has come, a connection may lose the answer.
        if isRead || !isAnswered { return finish(context) }
        // The rest has to come in the time for a body, however much it is.
        bodyEnd?.cancel()
        (nextCount, bodyEnd) = (.max, schedule(context, after: limits.bodyTimeout))
        return
      }
      context.write(data, promise: promise)
    }

    /// The request and its answer are at their ends.
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
