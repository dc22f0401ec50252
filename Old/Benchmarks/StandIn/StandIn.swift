import AppStoreSimulator
import Foundation
import NIOCore
import NIOPosix
import NIOSSL

/// Answers verifyReceipt on loopback, over TLS, with as little work as can be: what it takes of the machine is not left for
/// the worker that is measured.
///
/// It believes every receipt and finds its transaction in the text (``ReceiptNumber``). One thread serves all connections.
struct StandIn: Sendable {
    /// Larger than a request, so that one read takes one request.
    private static let readBytes = 32_768
    private static let backlog: Int32 = 4096

    private let channel: any Channel
    private let group: MultiThreadedEventLoopGroup

    let port: Int

    /// - Parameters:
    ///   - authority: Folder of the authority that vouches for it.
    ///   - latency: What each call takes.
    static func open(authority: URL, latency: Duration, bundleID: String) async throws -> StandIn {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        let tls = try NIOSSLContext(configuration: tlsConfiguration(authority))
        let delay = TimeAmount.nanoseconds(Int64(latency / .nanoseconds(1)))
        let line = NIOLoopBoundBox.makeBoxSendingValue(DelayLine(delay: delay), eventLoop: group.next())
        let answer = ReceiptAnswer(bundleID: bundleID)
        let channel = try await ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: backlog)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelOption(.recvAllocator, value: FixedSizeRecvByteBufferAllocator(capacity: readBytes))
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(NIOSSLServerHandler(context: tls))
                    try pipeline.addHandler(StandInConnection(answer: answer, line: line.value))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        return StandIn(channel: channel, group: group, port: channel.localAddress?.port ?? 0)
    }

    func close() async throws {
        try await channel.close()
        try await group.shutdownGracefully()
    }

    private static func tlsConfiguration(_ authority: URL) throws -> TLSConfiguration {
        func path(_ file: SimulatorAuthority.File) -> String { authority.appending(path: file.rawValue).path }
        let certificates = try NIOSSLCertificate.fromPEMFile(path(.server))
        let key = try NIOSSLPrivateKey(file: path(.serverKey), format: .pem)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: certificates.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.applicationProtocols = ["http/1.1"]
        return configuration
    }
}
