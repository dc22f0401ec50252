internal import Contract
internal import HTTPServer
internal import SimulatorServer
internal import Synchronization

/// The simulator's three ports while they are open, each served by a thread of its own.
struct SimulatorServers: Sendable {
    /// The ports to listen on; zero for any that is free.
    struct Ports: Hashable, Sendable {
        var production: Int
        var sandbox: Int
        var control: Int
    }

    private let production: Server
    private let sandbox: Server
    private let control: Server

    /// Opens all three ports, or none.
    init(
        _ ports: Ports, configuration: SimulatorConfiguration, identity: TLSIdentity, service: EndpointService,
        control: ControlService
    ) throws(ServerError) {
        func endpoint(_ environment: Environment) -> ServerConfiguration {
            var server = Self.configuration(configuration, named: "sim-\(environment.rawValue)")
            let context = service.context
            server.observe = { context.count($0, in: environment) }
            return server
        }
        production = try Self.serve(endpoint(.production), ports.production, identity) {
            service.answer($0, in: .production)
        }
        sandbox = try Self.serve(endpoint(.sandbox), ports.sandbox, identity) { service.answer($0, in: .sandbox) }
        let operators = Self.configuration(configuration, named: "sim-control")
        self.control = try Self.serve(operators, ports.control, identity) { control.answer($0) }
    }

    var ports: Ports { Ports(production: production.port, sandbox: sandbox.port, control: control.port) }

    /// Frees the ports and ends every connection.
    func stop() {
        for server in [production, sandbox, control] { server.stop() }
    }

    /// Only a broken test reaches these limits: tests are about the clients' limits.
    private static func configuration(
        _ configuration: SimulatorConfiguration, named name: String
    ) -> ServerConfiguration {
        var server = ServerConfiguration()
        server.host = configuration.host
        server.threadName = name
        server.maxConnections = configuration.connectionLimit
        let bodyLimit = configuration.bodyLimit
        server.bodyLimit = { _ in bodyLimit }
        server.maxBytesInFlight = 1 << 30
        server.handshakeTime = .seconds(60)
        server.requestTime = .seconds(60)
        server.idleTime = .seconds(3600)
        server.answerTime = Fault.hangLimit
        server.writeTime = .seconds(600)
        return server
    }

    /// Ports below the range of outgoing connections (`ip_local_port_range`). No connection gets such a port by chance
    /// while the simulator is away.
    private static let quietPorts = 10_240..<32_768
    private static let tries = 32

    private static func serve(
        _ configuration: ServerConfiguration, _ port: Int, _ identity: TLSIdentity,
        _ handler: @escaping @Sendable (Request) -> ServerAnswer
    ) throws(ServerError) -> Server {
        func server(_ port: Int) throws(ServerError) -> Server {
            var configuration = configuration
            configuration.port = port
            return try Server(configuration, identity: identity, handler: handler)
        }
        guard port == 0 else { return try server(port) }
        for _ in 0..<tries {
            do throws(ServerError) {
                return try server(.random(in: quietPorts))
            } catch .cannotBind {
                continue
            } catch {
                throw error
            }
        }
        return try server(0)
    }
}

extension ServerContext {
    /// Counts an event of an endpoint's server.
    fileprivate func count(_ event: ServerEvent, in environment: Environment) {
        statistics.withLock { statistics in
            switch event {
            case .connectionOpened: statistics.connectionOpened()
            case .connectionClosed: statistics.connectionClosed()
            case .requestBegan: statistics.requestStarted()
            case .requestEnded: statistics.requestEnded()
            case .requestRefused(let status):
                statistics.count(in: environment) { $0.refusals[status, default: 0] += 1 }
            case .acceptingPaused: break
            }
        }
    }
}
