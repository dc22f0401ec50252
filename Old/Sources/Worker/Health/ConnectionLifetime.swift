import NIOCore

/// Closes a connection when its time is over, whatever happens on it.
///
/// A limit on idle time does not end a client that sends a byte now and then, or reads one: as many of them as there may be
/// connections would take health away from the probe that asks whether the worker is to be restarted.
final class ConnectionLifetime: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = NIOAny

    /// Enough for a probe and for a whole exposition, over a slow line.
    static let standard: TimeAmount = .seconds(10)

    private let lifetime: TimeAmount
    private var end: Scheduled<Void>?

    init(_ lifetime: TimeAmount = ConnectionLifetime.standard) {
        self.lifetime = lifetime
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let channel = context.channel
        end = context.eventLoop.scheduleTask(in: lifetime) { channel.close(promise: nil) }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        end?.cancel()
    }
}
