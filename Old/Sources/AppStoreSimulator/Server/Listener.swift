import Glibc
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// One port of the simulator: TLS and HTTP/1.1 with keep-alive on 127.0.0.1.
struct Listener: Sendable {
    /// What every connection of a port needs to know.
    struct Terms: Sendable {
        let tls: NIOSSLContext
        let bodyLimit: Int
        let observer: ConnectionHandler.Observer
        let decide: @Sendable (Request) -> Performance
    }

    private let channel: any Channel

    /// The port that is listened on.
    let port: Int

    /// - Parameter port: Zero for any that is free.
    static func bind(
        port: Int, on group: any EventLoopGroup, connections: Connections, terms: Terms
    ) async throws -> Listener {
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 1024)
            // So that a simulator can come back to ports on which old connections linger.
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try connections.add(channel)
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(AbruptCloser())
                    try pipeline.addHandler(NIOSSLServerHandler(context: terms.tls))
                    // Without help for pipelined requests, which would stop reading while an answer is due, so that the
                    // end of a connection would go unnoticed.
                    try pipeline.configureHTTPServerPipeline(withPipeliningAssistance: false)
                    try pipeline.addHandler(
                        ConnectionHandler(bodyLimit: terms.bodyLimit, observer: terms.observer, decide: terms.decide))
                }
            }
        let channel = try await port == 0 ? bindAny(bootstrap) : bootstrap.bind(host: "127.0.0.1", port: port).get()
        return Listener(channel: channel, port: channel.localAddress?.port ?? port)
    }

    /// Below the range that Linux takes the ports of outgoing connections from (`ip_local_port_range`): nobody gets such a
    /// port by chance while a simulator that is to come back to it is away.
    private static let quietPorts = 10_240..<32_768
    private static let tries = 32

    private static func bindAny(_ bootstrap: ServerBootstrap) async throws -> any Channel {
        for _ in 0..<tries {
            let port = Int.random(in: quietPorts)
            do {
                return try await bootstrap.bind(host: "127.0.0.1", port: port).get()
            } catch let error as IOError where error.errnoCode == EADDRINUSE {
                continue
            }
        }
        return try await bootstrap.bind(host: "127.0.0.1", port: 0).get()
    }

    /// Frees the port. Connections go on.
    func close() async {
        // It fails only when the channel is closed already.
        try? await channel.close()
    }
}
