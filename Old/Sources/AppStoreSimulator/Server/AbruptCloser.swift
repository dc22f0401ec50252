import NIOCore

#if canImport(Glibc)
    import Glibc
#endif

/// A wish, sent down a pipeline, to end its connection at once, without TLS's farewell.
enum AbruptClose: Sendable {
    /// The client sees the end of the stream.
    case finish
    /// The client sees a TCP reset.
    case reset
}

/// Fulfils ``AbruptClose``. It stands below TLS, which would wait for the client's consent to a close.
final class AbruptCloser: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard let wish = event as? AbruptClose else {
            context.triggerUserOutboundEvent(event, promise: promise)
            return
        }
        if case .reset = wish, let socket = context.channel as? any SocketOptionProvider {
            // Closing a socket that lingers for zero seconds sends RST. On the channel's own loop it takes effect at once.
            socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).assumeIsolated().whenFailure { _ in
                // The socket is gone already, and with it what was to be reset.
            }
        }
        context.close(promise: promise)
    }
}
