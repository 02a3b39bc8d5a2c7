// SPDX-License-Identifier: Apache-2.0

#if Hub
  import HTTPTypes
  import NIOCore
  import NIOHTTPTypes

  /// What a connection does of HTTP that is about no request in particular: it tells who waits for
  /// `100 Continue` to go on, and closes on who sends without end, sends on after a refusal, or
  /// does not read its answer. The server itself reads what is left of a body, however slowly it
  /// comes.
  final class BodyGate: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// Bytes beyond the limit, so that the answer that refuses them is read.
    private static let grace = 1 << 20

    private let limits: ServerLimits
    private var count = 0
    /// Whether the last request has come to its end.
    private var isRead = true
    /// Requests without the end of their answers: more than one where a device does not wait.
    private var unanswered = 0
    private var isAnswered: Bool { unanswered == 0 }
    /// Whether the last request waits to be told to go on, after the answers before.
    private var waits = false
    /// Whether nothing follows the answer.
    private var isLast = false
    /// Whether the answer goes on for as long as somebody listens.
    private var isHeard = false
    private var end: Scheduled<Void>?

    init(_ limits: ServerLimits) { self.limits = limits }

    func handlerAdded(context: ChannelHandlerContext) {
      #if os(Linux)
        // A device that is gone without a word answers no beat of its stream: its place is free
        // then, and not after the quarter of an hour that the system tries on.
        context.channel.setOption(
          ChannelOptions.tcpOption(.init(rawValue: 18)), value: 30_000  // TCP_USER_TIMEOUT
        ).whenFailure { _ in }
      #endif
    }

    func handlerRemoved(context: ChannelHandlerContext) { end?.cancel() }

    // MARK: - What comes

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      switch unwrapInboundIn(data) {
      case .head(let head):
        (count, isRead) = (0, false)
        unanswered += 1
        isHeard = head.path?.hasPrefix("/v1/events") ?? false
        let length = head.headerFields[.contentLength].flatMap { Int($0) } ?? 0
        waits =
          head.headerFields[.expect]?.lowercased() == "100-continue" && length <= limits.bodyBytes
        goOn(context)
      case .body(let bytes):
        count += bytes.readableBytes
        guard count <= limits.bodyBytes + Self.grace else { return context.close(promise: nil) }
      case .end:
        isRead = true
        if isAnswered { finish(context) }
      }
      context.fireChannelRead(data)
    }

    /// Within the answer to another request it would be a part of that one.
    private func goOn(_ context: ChannelHandlerContext) {
      guard waits, unanswered == 1 else { return }
      waits = false
      context.writeAndFlush(wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
      // Who has asked once may close its half, and wait; who listens and does that is gone.
      if case ChannelEvent.inputClosed? = event as? ChannelEvent, isHeard, !isAnswered {
        context.close(promise: nil)
      }
      context.fireUserInboundEventTriggered(event)
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
        // Closed at once, a connection may lose the answer on its way.
        if isRead || !isAnswered { finish(context) } else { close(context, after: limits.linger) }
        return goOn(context)
      }
      context.write(data, promise: promise)
    }

    /// The request and its answer are at their ends.
    private func finish(_ context: ChannelHandlerContext) {
      end?.cancel()
      end = nil
      if isLast { context.close(promise: nil) }
    }

    func channelWritabilityChanged(context: ChannelHandlerContext) {
      if !context.channel.isWritable {
        close(context, after: limits.patience)
      } else if isRead || !isAnswered {
        end?.cancel()
        end = nil
      }
      context.fireChannelWritabilityChanged()
    }

    private func close(_ context: ChannelHandlerContext, after time: Duration) {
      end?.cancel()
      let channel = context.channel
      end = context.eventLoop.scheduleTask(in: TimeAmount(time)) { channel.close(promise: nil) }
    }
  }
#endif
