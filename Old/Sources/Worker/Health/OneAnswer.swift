import HTTPTypes
import NIOCore
import NIOHTTPTypes

/// Makes the first answer on a connection its last, whoever asks: one that nobody needs any more would take the place of a
/// probe, and not every client heeds `Connection: close`.
///
/// Our side is closed behind the answer. The other side has ``patience`` to close its own, so that an answer is not lost to
/// what was still on its way here (RFC 9112, section 9.6).
final class OneAnswer: ChannelOutboundHandler, RemovableChannelHandler {
    typealias OutboundIn = HTTPResponsePart
    typealias OutboundOut = HTTPResponsePart

    /// Enough for an acknowledgement from far away.
    static let patience: TimeAmount = .seconds(1)

    private var isAnswered = false

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        guard !isAnswered else {
            promise?.fail(ChannelError.outputClosed)
            return
        }
        switch unwrapOutboundIn(data) {
        case .head(var head):
            head.headerFields[.connection] = "close"
            context.write(wrapOutboundOut(.head(head)), promise: promise)
        case .end:
            let channel = context.channel
            let written = promise ?? context.eventLoop.makePromise()
            isAnswered = true
            // Once it is written, however slowly it is read: ``ConnectionLifetime`` bounds that.
            written.futureResult.whenComplete { _ in
                channel.close(mode: .output, promise: nil)
                channel.eventLoop.scheduleTask(in: Self.patience) { channel.close(promise: nil) }
            }
            context.write(data, promise: written)
        case .body:
            context.write(data, promise: promise)
        }
    }
}
