public import Foundation
public import Logging
public import Purchases
import Synchronization

/// Apple's verifyReceipt and App Store Server API for production and sandbox, on loopback, over TLS with an authority
/// of its own.
///
/// A receipt's answer follows from the receipt itself, so any number of simulators that share an authority answer
/// alike, and a simulator may stop and start again in between. The App Store Server API is asked by id, so it knows
/// only the transactions that were registered with this very simulator; they are kept in memory, over ``stop()`` and
/// ``start()`` but not over the process's end, as are keys, scripts, statistics and the cache of good signatures. All
/// of them are bounded.
public final class AppStoreSimulator: Sendable {
    /// Where a running simulator is reached.
    public struct Endpoints: Hashable, Sendable {
        /// The whole URL of verifyReceipt.
        public let productionURL: URL
        /// The whole URL of verifyReceipt.
        public let sandboxURL: URL
        /// The base of the App Store Server API, without `/inApps`.
        public let serverAPIProductionURL: URL
        /// The base of the App Store Server API, without `/inApps`.
        public let serverAPISandboxURL: URL
        /// The base of the remote control; its paths begin with `/simulator/`.
        public let controlURL: URL
        /// The TLS authority's certificate, PEM.
        public let caFile: URL
        /// The roots that receipts and signed transactions are verified against, PEM.
        public let rootsFile: URL
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
    private let service: EndpointService
    let transactions: ServerAPIService
    let transactionFactory: SignedTransactionFactory
    let now: @Sendable () -> Timestamp
    private let files: CertificateFiles
    private let logger: Logger
    private let state = Mutex(State.stopped)
    private let ports: Mutex<Server.Ports>

    /// A simulator that does not listen yet.
    ///
    /// - Parameters:
    ///   - now: Tells the time of `request_date` and `signedDate`, and whether a subscription or token has run out.
    /// - Throws: ``SimulatorError/authorityUnusable(_:)``; ``SimulatorError/tooManyKeys``.
    public init(
        authority: SimulatorAuthority, configuration: Configuration = Configuration(),
        logger: Logger = Logger(label: "app-store-simulator"), now: @escaping @Sendable () -> Timestamp
    ) throws(SimulatorError) {
        do {
            factory = try ReceiptFactory(authority: authority)
            transactionFactory = try SignedTransactionFactory(authority: authority)
            files = try CertificateFiles(
                authority: authority, caFile: configuration.caFile, rootsFile: configuration.rootsFile)
        } catch {
            throw .authorityUnusable(ErrorWords.of(error))
        }
        let judge = ReceiptJudge(signer: factory.signer, acceptedSecrets: configuration.acceptedSecrets)
        let backstage = Backstage(seed: configuration.seed)
        transactions = ServerAPIService(
            answers: ServerAPIAnswer(signer: transactionFactory.signer), apps: configuration.apps,
            limits: configuration.rateLimits, backstage: backstage, now: now)
        service = EndpointService(
            backstage: backstage, receipts: VerifyReceiptService(judge: judge, backstage: backstage, now: now),
            transactions: transactions)
        ports = Mutex(
            Server.Ports(
                production: configuration.productionPort, sandbox: configuration.sandboxPort,
                control: configuration.controlPort))
        self.authority = authority
        self.configuration = configuration
        self.logger = logger
        self.now = now
        for key in configuration.serverAPIKeys { try accept(key) }
    }

    /// Writes ``Endpoints/caFile`` and ``Endpoints/rootsFile`` and listens: the first time on the configured ports,
    /// later on the same ones.
    /// - Throws: ``SimulatorError``.
    public func start() async throws(SimulatorError) -> Endpoints {
        let isFree = state.withLock { state in
            guard case .stopped = state else { return false }
            state = .changing
            return true
        }
        guard isFree else { throw .alreadyRunning }
        do {
            try files.write()
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
            return try endpoints(of: bound)
        } catch {
            files.removeOwn()
            state.withLock { $0 = .stopped }
            throw .cannotListen(ErrorWords.of(error))
        }
    }

    /// Frees the ports, ends every connection, and removes the files that are in the temporary folder. Transactions,
    /// keys, scripts and statistics stay. Does nothing unless it runs.
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
            throw .cannotStop(ErrorWords.of(error))
        }
        files.removeOwn()
        state.withLock { $0 = .stopped }
        logger.info("App Store simulator stopped")
    }

    /// A receipt in base64, as an app would send it.
    /// - Throws: ``ReceiptFactoryError``.
    public func issue(_ specification: ReceiptSpecification) throws(ReceiptFactoryError) -> String {
        try factory.base64(specification)
    }

    /// Appends faults to a transaction's script. Every call about the transaction, by its id or in a receipt, to either
    /// endpoint, plays one, in order; then come real answers.
    /// - Throws: ``SimulatorError/tooManyScripts``.
    public func script(_ transaction: TransactionID, _ faults: [Fault]) throws(SimulatorError) {
        do {
            try service.backstage.book.withLock { book throws(ScriptBook.Full) in
                try book.append(faults, to: transaction)
            }
        } catch {
            throw .tooManyScripts
        }
    }

    /// Replaces how endpoints treat every call, from the next one on.
    public func behave(_ behaviour: Behaviour, in environments: [Environment] = Environment.allCases) {
        service.backstage.book.withLock { book in
            for environment in environments { book.set(behaviour, for: environment) }
        }
    }

    /// Forgets every script and behaviour.
    public func clearScripts() {
        service.backstage.book.withLock { $0.clear() }
    }

    /// What happened so far.
    public func statistics() -> Statistics {
        service.backstage.statistics.withLock { $0 }
    }

    private var plan: Server.Plan {
        Server.Plan(
            authority: authority, service: service,
            control: ControlService(
                receipts: factory, signed: transactionFactory, transactions: transactions,
                backstage: service.backstage, now: now),
            bodyLimit: configuration.bodyLimit, connectionLimit: configuration.connectionLimit,
            threads: configuration.threads)
    }

    private func endpoints(of ports: Server.Ports) throws(SimulatorError) -> Endpoints {
        guard let production = URL(string: "https://127.0.0.1:\(ports.production)"),
            let sandbox = URL(string: "https://127.0.0.1:\(ports.sandbox)"),
            let control = URL(string: "https://127.0.0.1:\(ports.control)")
        else { throw .cannotListen("the ports make no URL") }
        return Endpoints(
            productionURL: production.appending(path: "verifyReceipt"),
            sandboxURL: sandbox.appending(path: "verifyReceipt"), serverAPIProductionURL: production,
            serverAPISandboxURL: sandbox, controlURL: control, caFile: files.caFile, rootsFile: files.rootsFile)
    }
}
