import NIOCore
import NIOPosix
import SystemTesting

/// Passes connections on to a broker, and answers ApiVersions version 3 itself: "not supported", so that the client asks
/// in version 0.
///
/// librdkafka before 2.1 skips one byte too few of an answer's tagged fields (KIP-482) and gives the connection up.
struct VersionProxy: Sendable {
    let port: Int
    private let listener: any Channel

    /// Listens on a free port.
    static func start(before target: Int) async throws -> VersionProxy {
        let listener = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.autoRead, value: false)
            .childChannelInitializer { client in
                ClientBootstrap(group: client.eventLoop)
                    .channelOption(.autoRead, value: false)
                    .connect(host: "127.0.0.1", port: target)
                    .flatMapThrowing { broker in
                        try client.pipeline.syncOperations.addHandler(VersionAnswer())
                        try client.pipeline.syncOperations.addHandler(Relay(to: broker))
                        try broker.pipeline.syncOperations.addHandler(Relay(to: client))
                        broker.read()
                    }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        guard let port = listener.localAddress?.port else { throw FreePort.Unavailable() }
        return VersionProxy(port: port, listener: listener)
    }

    /// Takes no more connections.
    func close() async throws {
        try await listener.close()
    }
}

/// Writes what one side sends to the other; reads on only when it was taken.
private final class Relay: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let other: any Channel

    init(to other: any Channel) {
        self.other = other
    }

    func handlerAdded(context: ChannelHandlerContext) {
        if context.channel.isActive { context.read() }
    }

    func channelActive(context: ChannelHandlerContext) {
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let channel = context.channel
        other.writeAndFlush(unwrapInboundIn(data)).whenSuccess { channel.read() }
    }

    func channelInactive(context: ChannelHandlerContext) {
        other.close(promise: nil)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A reset of one side ends the other.
        context.close(promise: nil)
    }
}

/// Looks at the requests of a connection until one is not ApiVersions version 3 or later.
private final class VersionAnswer: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private static let apiVersions: Int16 = 18
    private static let unsupportedVersion: Int16 = 35

    private var pending = ByteBuffer()
    private var isDone = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var received = unwrapInboundIn(data)
        pending.writeBuffer(&received)
        while !isDone, let size = pending.getInteger(at: pending.readerIndex, as: Int32.self).map(Int.init),
            pending.readableBytes >= 4 + size
        {
            let start = pending.readerIndex + 4
            guard pending.getInteger(at: start, as: Int16.self) == Self.apiVersions,
                let version = pending.getInteger(at: start + 2, as: Int16.self), version >= 3,
                let correlation = pending.getInteger(at: start + 4, as: Int32.self)
            else {
                isDone = true
                break
            }
            pending.moveReaderIndex(forwardBy: 4 + size)
            context.writeAndFlush(wrapOutboundOut(Self.refusal(correlation)), promise: nil)
        }
        guard isDone, pending.readableBytes > 0 else { return context.read() }
        context.fireChannelRead(wrapInboundOut(pending))
        pending.clear()
    }

    /// Size, correlation id, error code, no versions: the answer of version 0.
    private static func refusal(_ correlation: Int32) -> ByteBuffer {
        var answer = ByteBuffer()
        answer.writeInteger(Int32(10))
        answer.writeInteger(correlation)
        answer.writeInteger(unsupportedVersion)
        answer.writeInteger(Int32(0))
        return answer
    }
}
