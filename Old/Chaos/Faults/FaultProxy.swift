import NIOCore
import NIOPosix

/// A TCP proxy on loopback that goes wrong when it is told to.
///
/// Everything happens on one event loop, so a change of the mode is complete when `set` returns.
final class FaultProxy: Sendable {
    /// How connections are treated.
    enum Mode: Sendable {
        case passing
        /// Nothing gets through; what was sent meanwhile does when the mode is `passing` again.
        case stalled
        /// Bytes vanish, and connections that lost some are dead: they are reset when the mode is `passing` again.
        case swallowing
        /// Connections are reset, and so are new ones.
        case refusing
    }

    /// The proxy could not listen.
    struct NoPort: Error {}

    let port: Int
    private let listener: any Channel
    private let links: NIOLoopBound<ProxyLinks>
    private let group: MultiThreadedEventLoopGroup

    /// Listens on a free port, and passes connections on to another one of 127.0.0.1.
    static func start(before target: Int) async throws -> FaultProxy {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let loop = group.next()
        let links = try await loop.submit { NIOLoopBound(ProxyLinks(), eventLoop: loop) }.get()
        let listener = try await ServerBootstrap(group: group)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .serverChannelOption(.backlog, value: 256)
            .childChannelOption(.autoRead, value: false)
            .childChannelInitializer { client in
                guard links.value.mode != .refusing else {
                    reset(client)
                    return client.eventLoop.makeSucceededVoidFuture()
                }
                return ClientBootstrap(group: loop)
                    .channelOption(.autoRead, value: false)
                    .connect(host: "127.0.0.1", port: target)
                    .flatMapThrowing { server in
                        let link = ProxyLink(client: client, server: server, links: links.value)
                        try client.pipeline.syncOperations.addHandler(ProxyRelay(link, from: client, to: server))
                        try server.pipeline.syncOperations.addHandler(ProxyRelay(link, from: server, to: client))
                        links.value.add(link)
                        server.read()
                    }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        guard let port = listener.localAddress?.port else { throw NoPort() }
        return FaultProxy(port: port, listener: listener, links: links, group: group)
    }

    private init(
        port: Int, listener: any Channel, links: NIOLoopBound<ProxyLinks>, group: MultiThreadedEventLoopGroup
    ) {
        self.port = port
        self.listener = listener
        self.links = links
        self.group = group
    }

    /// Treats all connections so from now on.
    func set(_ mode: Mode) async throws {
        try await group.next().submit { [links] in links.value.set(mode) }.get()
    }

    /// Resets every connection there is.
    func cut() async throws {
        try await group.next().submit { [links] in links.value.cut() }.get()
    }

    /// Ends everything.
    func close() async throws {
        try await cut()
        try await listener.close()
        try await group.shutdownGracefully()
    }
}

/// Ends a connection with a TCP reset.
func reset(_ channel: any Channel) {
    if let socket = channel as? any SocketOptionProvider {
        // Closing a socket that lingers for zero seconds sends RST. On the channel's own loop it takes effect at once.
        socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).assumeIsolated().whenFailure { _ in
            // The socket is gone already, and with it what was to be reset.
        }
    }
    channel.close(promise: nil)
}
