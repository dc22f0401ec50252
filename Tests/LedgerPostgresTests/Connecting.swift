import Glibc
import Ledger
import PostgresTesting
import SocketTesting

@testable import LedgerPostgres

extension PostgresSettings {
    /// Limits that only a hang reaches on a busy machine, for a server that syncs nothing.
    static var forTests: PostgresSettings {
        PostgresSettings(
            call: .seconds(180), statement: .seconds(170), lock: .seconds(170), idleInTransaction: .seconds(170),
            demandsFsync: false)
    }
}

/// A connection to the shared server, or another.
func connect(_ url: String? = nil, _ settings: PostgresSettings = .forTests) throws -> PostgresConnection {
    // Five seconds are not enough for the first byte of a server that hundreds of tests keep busy.
    let url = try url ?? PostgresServer.shared.url()
    return try PostgresConnection(PostgresOptions(url: url + "&connect_timeout=180"), settings)
}

/// How a block fails; nil if it does not.
func failure(_ body: () throws -> Void) -> PostgresFailure? {
    do {
        try body()
        return nil
    } catch {
        return error as? PostgresFailure
    }
}

/// How the ledger fails in a block; nil if it does not.
func ledgerError(_ body: () throws -> Void) -> LedgerError? {
    do {
        try body()
        return nil
    } catch {
        return error as? LedgerError
    }
}

/// A port on 127.0.0.1 where the kernel takes connections and nobody answers.
final class SilentListener {
    let port: Int
    private let descriptor: Int32

    init() throws { (descriptor, port) = try Loopback.listening() }

    deinit { Glibc.close(descriptor) }
}

extension PostgresConnection {
    @discardableResult
    func run(_ sql: String, _ bind: (inout PostgresParameters) -> Void = { _ in }) throws -> PostgresResult? {
        try run([PostgresStatement(sql, bind)]).first
    }

    /// Runs statements in one round trip.
    func run(all statements: String...) throws { try run(statements.map { PostgresStatement($0) }) }

    func number(_ sql: String) throws -> Int64? { try run(sql)?.first?.integer(0) }
    func text(_ sql: String) throws -> String? { try run(sql)?.first?.optionalText(0) }
}

extension LedgerError {
    var word: String {
        switch self {
        case .unavailable: "unavailable"
        case .disconnected: "disconnected"
        case .unusable: "unusable"
        }
    }
}
