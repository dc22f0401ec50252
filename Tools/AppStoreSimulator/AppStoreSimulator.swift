public import Contract
internal import HTTPServer
public import Logging
internal import SimulatorServer
internal import Synchronization

/// Apple's verifyReceipt and App Store Server API for production and sandbox, over TLS with its own authority. It
/// listens on loopback, unless its configuration names another host.
///
/// A receipt's answer follows from the receipt itself. So simulators that share an authority answer alike, and a
/// simulator may stop and start again in between. The App Store Server API is asked by id, so it knows only the
/// transactions that were registered with this simulator. Transactions, keys, scripts, statistics and the cache of good
/// signatures are bounded and kept in memory. They survive ``stop()`` and ``start()``, but not the process's end.
public final class AppStoreSimulator: Sendable {
    /// Where a running simulator is reached.
    public struct Endpoints: Hashable, Sendable {
        /// The whole URL of verifyReceipt.
        public let productionURL: String
        /// The whole URL of verifyReceipt.
        public let sandboxURL: String
        /// The base of the App Store Server API, without `/inApps`.
        public let serverAPIProductionURL: String
        /// The base of the App Store Server API, without `/inApps`.
        public let serverAPISandboxURL: String
        /// The base of the remote control; its paths begin with `/simulator/`.
        public let controlURL: String
        /// The TLS authority's certificate, PEM.
        public let caFile: String
        /// The roots that receipts and signed transactions are verified against, PEM.
        public let rootsFile: String
    }

    private let configuration: SimulatorConfiguration
    private let identity: TLSIdentity
    private let factory: ReceiptFactory
    private let service: EndpointService
    let transactions: ServerAPIService
    let transactionFactory: SignedTransactionFactory
    let now: @Sendable () -> Timestamp
    private let files: CertificateFiles
    private let logger: Logger
    /// Nil while it does not run.
    private let servers = Mutex<SimulatorServers?>(nil)
    private let ports: Mutex<SimulatorServers.Ports>

    /// A simulator that does not listen yet.
    ///
    /// - Parameters:
    ///   - now: The time of `request_date` and `signedDate`, by which subscriptions and tokens run out.
    /// - Throws: ``SimulatorError/authorityUnusable(_:)``; ``SimulatorError/tooManyKeys``.
    public init(
        authority: SimulatorAuthority, configuration: SimulatorConfiguration = SimulatorConfiguration(),
        logger: Logger = Logger(label: "app-store-simulator"), now: @escaping @Sendable () -> Timestamp
    ) throws(SimulatorError) {
        do {
            factory = try ReceiptFactory(authority: authority)
            identity = try TLSIdentity(certificatePEM: authority.server.certificate, keyPEM: authority.server.key)
        } catch {
            throw .authorityUnusable("\(error)")
        }
        transactionFactory = SignedTransactionFactory(authority: authority)
        files = CertificateFiles(
            authority: authority, caFile: configuration.caFile, rootsFile: configuration.rootsFile)
        let validator = ReceiptValidator(signer: factory.signer, acceptedSecrets: configuration.acceptedSecrets)
        let context = ServerContext(seed: configuration.seed)
        transactions = ServerAPIService(
            answers: ServerAPIAnswer(signer: transactionFactory.signer), apps: configuration.apps,
            limits: configuration.rateLimits, context: context, now: now)
        service = EndpointService(
            context: context, receipts: VerifyReceiptService(validator: validator, context: context, now: now),
            transactions: transactions)
        ports = Mutex(
            SimulatorServers.Ports(
                production: configuration.productionPort, sandbox: configuration.sandboxPort,
                control: configuration.controlPort))
        self.configuration = configuration
        self.logger = logger
        self.now = now
        for key in configuration.serverAPIKeys { try accept(key) }
    }

    /// Writes ``Endpoints/caFile`` and ``Endpoints/rootsFile`` and listens: the first time on the configured ports,
    /// later on the same ones.
    ///
    /// - Throws: ``SimulatorError/alreadyRunning``; ``SimulatorError/cannotListen(_:)``;
    ///   ``SimulatorError/unwritable(file:)``.
    public func start() throws(SimulatorError) -> Endpoints {
        try servers.withLock { servers throws(SimulatorError) in
            guard servers == nil else { throw .alreadyRunning }
            try files.write()
            do throws(ServerError) {
                let opened = try SimulatorServers(
                    ports.withLock { $0 }, configuration: configuration, identity: identity, service: service,
                    control: control)
                ports.withLock { $0 = opened.ports }
                servers = opened
                logger.info(
                    "App Store simulator listens",
                    metadata: [
                        "production": "\(opened.ports.production)", "sandbox": "\(opened.ports.sandbox)",
                        "control": "\(opened.ports.control)",
                    ])
                return endpoints(of: opened.ports)
            } catch {
                files.removeOwn()
                throw .cannotListen(error.description)
            }
        }
    }

    /// Frees the ports, ends every connection, and removes the files that are in the temporary folder. Transactions,
    /// keys, scripts and statistics stay. Does nothing unless it runs.
    public func stop() {
        servers.withLock { servers in
            guard let running = servers else { return }
            running.stop()
            servers = nil
            files.removeOwn()
            logger.info("App Store simulator stopped")
        }
    }

    /// A receipt in base64, as an app would send it.
    /// - Throws: ``ReceiptFactoryError``.
    public func issue(_ specification: ReceiptSpecification) throws(ReceiptFactoryError) -> String {
        try factory.base64(specification)
    }

    /// Appends faults to a transaction's script. Every call about the transaction, by its id or in a receipt, to either
    /// endpoint, plays one fault, in order. Then come real answers.
    /// - Throws: ``SimulatorError/tooManyScripts``.
    public func script(_ transaction: TransactionID, _ faults: [Fault]) throws(SimulatorError) {
        do {
            try service.context.book.withLock { book throws(ScriptBook.Full) in
                try book.append(faults, to: transaction)
            }
        } catch {
            throw .tooManyScripts
        }
    }

    /// Replaces how endpoints treat every call, from the next one on.
    public func behave(_ behaviour: Behaviour, in environments: [Environment] = Environment.allCases) {
        service.context.book.withLock { book in
            for environment in environments { book.set(behaviour, for: environment) }
        }
    }

    /// Calls and answers so far.
    public func statistics() -> Statistics {
        service.context.statistics.withLock { $0 }
    }

    private var control: ControlService {
        ControlService(
            receipts: factory, signed: transactionFactory, transactions: transactions, context: service.context,
            now: now)
    }

    private func endpoints(of ports: SimulatorServers.Ports) -> Endpoints {
        let host = configuration.host
        let production = "https://\(host):\(ports.production)"
        let sandbox = "https://\(host):\(ports.sandbox)"
        return Endpoints(
            productionURL: "\(production)/verifyReceipt", sandboxURL: "\(sandbox)/verifyReceipt",
            serverAPIProductionURL: production, serverAPISandboxURL: sandbox,
            controlURL: "https://\(host):\(ports.control)", caFile: files.caFile, rootsFile: files.rootsFile)
    }
}
