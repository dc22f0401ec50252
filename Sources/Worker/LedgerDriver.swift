public import Configuration
public import Ledger
import LedgerPostgres
import LedgerSQLite

/// The ledger that a configuration names. Copies share the state that the connections of a process share.
public struct LedgerDriver: Sendable {
    private enum Kind: Sendable {
        case sqlite(SQLiteLedgerConfiguration)
        case postgres(PostgresLedgerConfiguration)
    }

    private let kind: Kind

    /// - Throws: `.unusable` for a URL that makes no sense.
    public init(_ settings: LedgerSettings) throws(LedgerError) {
        switch settings {
        case .sqlite(let path): kind = .sqlite(SQLiteLedgerConfiguration(path: path))
        case .postgres(let url):
            kind = .postgres(try PostgresLedgerConfiguration(url: url.revealed, password: url.password?.source))
        }
    }

    /// Whether a worker makes a missing ledger, and brings an older one up to date. On a server other workers may be
    /// using it, so a person decides when.
    var isMadeByWorkers: Bool { if case .sqlite = kind { true } else { false } }

    /// Takes the right to be an embedded ledger's one worker, until the process ends. A server's has any number.
    /// - Parameter creating: Whether an empty file is made where there is none.
    /// - Returns: Words for the process that has the right; nil if this one may work.
    /// - Throws: `.unusable` where this user can have no ledger; `.unavailable` if the file cannot be locked.
    func claim(creating: Bool) throws(LedgerError) -> String? {
        switch kind {
        case .sqlite(let configuration): try SQLiteLedger.claim(configuration, creating: creating)
        case .postgres: nil
        }
    }

    /// Whether anything is where the ledger should be.
    /// - Throws: `.unusable` where none can be; `.unavailable` if the file system or the server does not say.
    public func exists() throws(LedgerError) -> Bool {
        switch kind {
        case .sqlite(let configuration): try SQLiteLedger.exists(configuration)
        case .postgres(let configuration): try PostgresLedger.exists(configuration)
        }
    }

    /// Examines the conditions of a worker.
    /// - Parameter prunes: Whether the worker deletes old answers.
    /// - Throws: as ``open()``, except for what findings name.
    public func examine(prunes: Bool) throws(LedgerError) -> [LedgerFinding] {
        switch kind {
        case .sqlite(let configuration): try SQLiteLedger.examine(configuration)
        case .postgres(let configuration): try PostgresLedger.examine(configuration, prunes: prunes)
        }
    }

    /// A connection for the calling thread to a ledger that is there.
    /// - Throws: `.unusable` if there is none, or one that this program cannot work with. `.unavailable` if the server
    ///   cannot be reached, or another process keeps the file locked.
    public func open() throws(LedgerError) -> any LedgerConnection & LedgerOperator {
        switch kind {
        case .sqlite(let configuration): try SQLiteLedger(configuration)
        case .postgres(let configuration): try PostgresLedger(configuration)
        }
    }

    /// A connection for the calling thread that only reads, beside a worker. None of its calls lasts much longer than a
    /// limit.
    /// - Throws: as ``open()``.
    public func openReader(within limit: Duration) throws(LedgerError) -> any LedgerOperator {
        switch kind {
        case .sqlite(let configuration): try SQLiteLedger(configuration.reading(within: limit))
        case .postgres(let configuration): try PostgresLedger(configuration.reading(within: limit))
        }
    }

    /// A connection for the calling thread that reads whole tables, also from a standby.
    /// - Throws: as ``open()``.
    public func openAudited() throws(LedgerError) -> (ledger: any LedgerOperator, isStandby: Bool) {
        switch kind {
        case .sqlite(let configuration): return (try SQLiteLedger(configuration), false)
        case .postgres(let configuration):
            let ledger = try PostgresLedger(configuration.auditing)
            return (ledger, ledger.isStandby)
        }
    }

    /// Opens an existing ledger, and makes sure that this user has all rights of a worker. A user who can write a file
    /// may do all.
    /// - Parameter prunes: Whether the worker deletes old answers.
    /// - Returns: Its id, and the group that it belongs to; nil before its first worker.
    /// - Throws: also `.unusable` with the rights that are missing.
    func identify(prunes: Bool) throws(LedgerError) -> (id: String, group: ConsumerGroup?) {
        switch kind {
        case .sqlite(let configuration):
            let ledger = try SQLiteLedger(configuration)
            return (try ledger.identity(), try ledger.group())
        case .postgres(let configuration):
            let ledger = try PostgresLedger(configuration)
            try ledger.checkRights(prunes: prunes)
            return (try ledger.identity(), try ledger.group())
        }
    }

    /// Makes a ledger, or brings its schema up to date.
    /// - Returns: The versions of the schema before and after; 0 where there was no ledger.
    /// - Throws: `.unusable` where a person must look, such as at a newer ledger; `.unavailable` for what may pass.
    public func migrate() throws(LedgerError) -> (from: Int, to: Int) {
        switch kind {
        case .sqlite(let configuration): try SQLiteLedger.migrate(configuration)
        case .postgres(let configuration): try PostgresLedger.migrate(configuration)
        }
    }
}

extension PasswordFile {
    /// The file as the driver of PostgreSQL reads it.
    fileprivate var source: PasswordSource {
        { () throws(LedgerError) in
            do throws(ConfigurationError) { return try read() } catch { throw .unusable(detail: error.description) }
        }
    }
}

extension KafkaSettings {
    /// The group of these settings, to which a ledger belongs.
    /// - Parameter cluster: The id of its cluster; nil where it is not known.
    public func group(cluster: String?) -> ConsumerGroup {
        ConsumerGroup(name: groupID, cluster: cluster) { topics[$0] }
    }
}
