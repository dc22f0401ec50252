public import Foundation
public import Logging
public import Purchases
import Synchronization

/// Apple's verifyReceipt for production and sandbox, on loopback, over TLS with an authority of its own.
///
/// A receipt's answer follows from the receipt itself, so any number of simulators that share an authority answer alike,
/// and a simulator may stop and start again in between. Only scripts, statistics and the cache of good signatures live in
/// memory, all of them bounded.
public final class AppStoreSimulator: Sendable {
    /// Where a running simulator is reached.
    public struct Endpoints: Hashable, Sendable {
        /// The whole URL of verifyReceipt.
        public let productionURL: URL
        /// The whole URL of verifyReceipt.
        public let sandboxURL: URL
        /// The base of the remote control; its paths begin with `/simulator/`.
        public let controlURL: URL
        /// The TLS authority's certificate, PEM.
        public let caFile: URL
    }

    private enum State {
        /// To ``changing``.
        case stopped
        /// Ports are being opened or freed: to ``running`` or ``stopped``.
        case changing
        /// To ``changing``.
        case running(Server)
    }

    private let configuration: Configuration
    private let authority: SimulatorAuthority
    private let factory: ReceiptFactory
    private let service: VerifyReceiptService
    private let caFile: URL
    private let logger: Logger
    private let state = Mutex(State.stopped)
    private let ports: Mutex<Server.Ports>

    /// A simulator that does not listen yet.
    ///
    /// - Parameters:
    ///   - now: Tells the time of `request_date` and whether a subscription has run out.
    /// - Throws: ``SimulatorError/authorityUnusable(_:)``.
    public init(
        authority: SimulatorAuthority, configuration: Configuration = Configuration(),
        logger: Logger = Logger(label: "app-store-simulator"), now: @escaping @Sendable () -> Timestamp
    ) throws(SimulatorError) {
        do {
            factory = try ReceiptFactory(authority: authority)
        } catch {
            throw .authorityUnusable("\(error)")
        }
        let judge = ReceiptJudge(signer: factory.signer, acceptedSecrets: configuration.acceptedSecrets)
        service = VerifyReceiptService(judge: judge, seed: configuration.seed, now: now)
        ports = Mutex(
            Server.Ports(
                production: configuration.productionPort, sandbox: configuration.sandboxPort,
                control: configuration.controlPort))
        caFile =
            configuration.caFile
            ?? FileManager.default.temporaryDirectory.appending(path: "app-store-simulator-\(UUID().uuidString).pem")
        self.authority = authority
        self.configuration = configuration
        self.logger = logger
    }

    /// Writes ``Endpoints/caFile`` and listens: the first time on the configured ports, later on the same ones.
    /// - Throws: ``SimulatorError``.
    public func start() async throws(SimulatorError) -> Endpoints {
        let isFree = state.withLock { state in
            guard case .stopped = state else { return false }
            state = .changing
            return true
        }
        guard isFree else { throw .alreadyRunning }
        do {
            try Data(authority.serverRootPEM.utf8).write(to: caFile, options: .atomic)
            let server = try await Server.open(ports.withLock { $0 }, plan: plan)
            let bound = Server.Ports(
                production: server.production.port, sandbox: server.sandbox.port, control: server.control.port)
            ports.withLock { $0 = bound }
            state.withLock { $0 = .running(server) }
            logger.info(
                "App Store simulator listens",
                metadata: [
                    "production": "\(bound.production)", "sandbox": "\(bound.sandbox)", "control": "\(bound.control)",
                ])
            return try Self.endpoints(of: bound, caFile: caFile)
        } catch {
            state.withLock { $0 = .stopped }
            throw .cannotListen("\(error)")
        }
    }

    /// Frees the ports and ends every connection. Scripts and statistics stay. Does nothing unless it runs.
    /// - Throws: ``SimulatorError/cannotStop(_:)``.
    public func stop() async throws(SimulatorError) {
        let server = state.withLock { state -> Server? in
            guard case .running(let server) = state else { return nil }
            state = .changing
            return server
        }
        guard let server else { return }
        do {
            try await server.close()
        } catch {
            state.withLock { $0 = .stopped }
            throw .cannotStop("\(error)")
        }
        state.withLock { $0 = .stopped }
        logger.info("App Store simulator stopped")
    }

    /// A receipt in base64, as an app would send it.
    /// - Throws: ``ReceiptFactoryError``.
    public func issue(_ specification: ReceiptSpecification) throws(ReceiptFactoryError) -> String {
        try factory.base64(specification)
    }

    /// Appends faults to a transaction's script. Every call about a receipt that holds the transaction, to either
    /// endpoint, plays one, in order; then come real answers.
    /// - Throws: ``SimulatorError/tooManyScripts``.
    public func script(_ transaction: TransactionID, _ faults: [Fault]) throws(SimulatorError) {
        do {
            try service.book.withLock { book throws(ScriptBook.Full) in try book.append(faults, to: transaction) }
        } catch {
            throw .tooManyScripts
        }
    }

    /// Replaces how endpoints treat every call, from the next one on.
    public func behave(_ behaviour: Behaviour, in environments: [Environment] = Environment.allCases) {
        service.book.withLock { book in
            for environment in environments { book.set(behaviour, for: environment) }
        }
    }

    /// Forgets every script and behaviour.
    public func clearScripts() {
        service.book.withLock { $0.clear() }
    }

    /// What happened so far.
    public func statistics() -> Statistics {
        service.statistics.withLock { $0 }
    }

    private var plan: Server.Plan {
        Server.Plan(
            authority: authority, service: service, control: ControlService(factory: factory, service: service),
            bodyLimit: configuration.bodyLimit, connectionLimit: configuration.connectionLimit,
            threads: configuration.threads)
    }

    private static func endpoints(of ports: Server.Ports, caFile: URL) throws(SimulatorError) -> Endpoints {
        guard let production = URL(string: "https://127.0.0.1:\(ports.production)/verifyReceipt"),
            let sandbox = URL(string: "https://127.0.0.1:\(ports.sandbox)/verifyReceipt"),
            let control = URL(string: "https://127.0.0.1:\(ports.control)")
        else { throw .cannotListen("the ports make no URL") }
        return Endpoints(productionURL: production, sandboxURL: sandbox, controlURL: control, caFile: caFile)
    }
}
