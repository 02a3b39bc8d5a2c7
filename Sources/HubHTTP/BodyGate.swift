// SPDX-License-Identifier: Apache-2.0

#if Hub
  import HTTPTypes
  import NIOCore
  import NIOHTTPTypes

  /// Tells who waits for `100 Continue` to go on, and closes the connection of who sends without
  /// end: the server reads what is left of a body after it has answered.
  final class BodyGate: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPRequestPart
    typealias InboundOut = HTTPRequestPart
    typealias OutboundOut = HTTPResponsePart

    /// Bytes beyond the limit, so that the answer that refuses them is read.
    private static let grace = 1 << 20

    private let most: Int
    private var count = 0

    init(most: Int) { self.most = most }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
      switch unwrapInboundIn(data) {
      case .head(let head):
        count = 0
        if head.headerFields[.expect]?.lowercased() == "100-continue" {
          context.writeAndFlush(
            wrapOutboundOut(.head(HTTPResponse(status: .continue))), promise: nil)
        }
      case .body(let bytes):
        count += bytes.readableBytes
        guard count <= most + Self.grace else { return context.close(promise: nil) }
      case .end: break
      }
      context.fireChannelRead(data)
    }
  }
#endif
