import NIOCore
import NIOPosix
import NIOSSL
import Purchases
import SwiftASN1
import Synchronization
import X509

/// The simulator's three ports while they are open.
struct Server: Sendable {
    let production: Listener
    let sandbox: Listener
    let control: Listener
    private let connections: [Connections]
    private let group: MultiThreadedEventLoopGroup

    /// The ports to listen on; zero for any that is free.
    struct Ports: Hashable, Sendable {
        var production: Int
        var sandbox: Int
        var control: Int
    }

    /// What the ports answer, and within which limits.
    struct Plan: Sendable {
        let authority: SimulatorAuthority
        let service: EndpointService
        let control: ControlService
        let bodyLimit: Int
        let connectionLimit: Int
        let threads: Int
    }

    /// Opens all three ports, or none.
    static func open(_ ports: Ports, plan: Plan) async throws -> Server {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: max(1, plan.threads))
        do {
            return try await open(ports, plan: plan, on: group)
        } catch {
            // Closes the ports that were opened, too.
            try await group.shutdownGracefully()
            throw error
        }
    }

    private static func open(_ ports: Ports, plan: Plan, on group: MultiThreadedEventLoopGroup) async throws -> Server {
        let tls = try NIOSSLContext(configuration: plan.authority.tlsConfiguration())
        let service = plan.service
        let endpoints = Connections(limit: plan.connectionLimit) { isOpened in
            service.backstage.statistics.withLock { isOpened ? $0.connectionOpened() : $0.connectionClosed() }
        }
        let observer = ConnectionHandler.Observer(
            requestStarted: { service.backstage.statistics.withLock { $0.requestStarted() } },
            requestEnded: { service.backstage.statistics.withLock { $0.requestEnded() } })
        let operators = Connections(limit: plan.connectionLimit) { _ in }
        let control = plan.control
        return Server(
            production: try await .bind(
                port: ports.production, on: group, connections: endpoints,
                terms: .init(tls: tls, bodyLimit: plan.bodyLimit, observer: observer) {
                    service.perform($0, in: .production)
                }),
            sandbox: try await .bind(
                port: ports.sandbox, on: group, connections: endpoints,
                terms: .init(tls: tls, bodyLimit: plan.bodyLimit, observer: observer) {
                    service.perform($0, in: .sandbox)
                }),
            control: try await .bind(
                port: ports.control, on: group, connections: operators,
                terms: .init(tls: tls, bodyLimit: plan.bodyLimit, observer: .init()) { control.perform($0) }),
            connections: [endpoints, operators], group: group)
    }

    /// Frees the ports and ends every connection.
    func close() async throws {
        for listener in [production, sandbox, control] { await listener.close() }
        for list in connections { await list.closeAll() }
        try await group.shutdownGracefully()
    }
}

extension SimulatorAuthority {
    fileprivate func tlsConfiguration() throws -> TLSConfiguration {
        let certificate = try NIOSSLCertificate(bytes: Array(Self.pem(server).utf8), format: .pem)
        let key = try NIOSSLPrivateKey(bytes: Array(serverKey.serializeAsPEM().pemString.utf8), format: .pem)
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(certificate)], privateKey: .privateKey(key))
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        return configuration
    }
}
