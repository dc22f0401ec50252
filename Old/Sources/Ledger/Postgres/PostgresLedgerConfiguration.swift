/// Which PostgreSQL database is the ledger and how it is used. Says where, and never the password.
public struct PostgresLedgerConfiguration: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// Most connections at a time; a worker uses one to settle, one to publish and the others to look things up.
    public var maxConnections: Int
    /// How long a connection may take to come about. Per host, if the URL names several.
    public var connectTimeout: Duration
    /// How long a call's work on a connection may take; a connection that is silent for longer is given up.
    public var operationTimeout: Duration
    /// After this the server ends a statement.
    public var statementTimeout: Duration
    /// After this the server ends a wait for another transaction's lock.
    public var lockTimeout: Duration
    /// After this the server ends a transaction whose worker is silent.
    public var idleInTransactionTimeout: Duration

    /// Whether a server that takes no writes, a standby for one, is refused as one that is away; it can still be read from.
    public var needsWrites = true

    /// Where Debian keeps the certificates of authorities, which libpq does not look for by itself.
    public static let systemCertificates = "/etc/ssl/certs/ca-certificates.crt"

    /// Whose clock leases and due times run by.
    package var clock = LeaseClock.server

    private let options: PostgresOptions

    /// A ledger at `postgres://user@host:port/database?sslmode=verify-full&sslrootcert=...`, with the settings that suit
    /// a worker.
    ///
    /// All that libpq's URLs know is understood, several hosts included; so are its environment variables
    /// (`PGPASSWORD`, `PGPASSFILE`, ...). A host that is not this one has to prove its name by a certificate
    /// (`sslmode=verify-full`), unless the URL or `PGSSLMODE` says otherwise.
    ///
    /// Returns nil if libpq cannot read the URL, or reads hosts and ports in it that are none.
    public init?(
        url: String, maxConnections: Int = 4, connectTimeout: Duration = .seconds(5),
        operationTimeout: Duration = .seconds(30), statementTimeout: Duration = .seconds(15),
        lockTimeout: Duration = .seconds(10), idleInTransactionTimeout: Duration = .seconds(10)
    ) {
        guard let options = PostgresOptions(url: url) else { return nil }
        self.options = options
        self.maxConnections = maxConnections
        self.connectTimeout = connectTimeout
        self.operationTimeout = operationTimeout
        self.statementTimeout = statementTimeout
        self.lockTimeout = lockTimeout
        self.idleInTransactionTimeout = idleInTransactionTimeout
    }

    /// `postgres://user@host:port/database`.
    public var description: String { options.place }

    /// Without it a dump of the value would show the password.
    public var customMirror: Mirror { Mirror(self, children: ["place": options.place]) }

    var completedOptions: PostgresOptions {
        options.completed(
            connectTimeout: connectTimeout, silence: operationTimeout, systemCertificates: Self.systemCertificates)
    }

    var limits: PostgresLimits {
        PostgresLimits(
            connect: connectTimeout, operation: operationTimeout, statement: statementTimeout, lock: lockTimeout,
            idleInTransaction: idleInTransactionTimeout)
    }
}
