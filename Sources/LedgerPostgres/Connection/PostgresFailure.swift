import Ledger

/// Why a server did not carry out a connection's request. Texts hold no statements, values or passwords.
enum PostgresFailure: Error, Hashable, Sendable {
    /// The URL or a file that it names can bring about no connection, whatever the server does.
    case options(String)
    /// No server replied, or it refused every session.
    case unreachable(String)
    /// None of several hosts will do, each for a failure of its own.
    case hosts([HostFailure])
    /// The server cannot carry a ledger, for its version, its settings or the kind of the database. Or this user finds
    /// no ledger there.
    case unfit(String)
    /// A ledger that this process never works with: another one than before, or one of another version.
    case another(String)
    /// The server takes no writes: it is a standby, or a setting forbids them.
    case readOnly(isStandby: Bool)
    /// The server refused a statement or, at opening, the connection.
    /// - Parameters:
    ///   - state: The SQLSTATE (https://www.postgresql.org/docs/15/errcodes-appendix.html).
    ///   - statement: The index of the statement in its run.
    case server(state: String, message: String, statement: Int)
    /// The connection broke. It is not known whether a commit under way took effect.
    case lost(String)
    /// No reply came in time, so the connection was closed. As for `.lost`, a commit is in doubt.
    case deadline
    /// The connection broke in an earlier call.
    case closed
    /// A commit is on the primary's disk and perhaps on no standby, because somebody ended the wait. It can be read,
    /// and can yet be lost. The next commit that writes waits for this one, too, and a take-over is one.
    case unknownCommit

    /// A conflict that the server does not see: the transaction is worth another try.
    static func again(_ message: String) -> PostgresFailure { .server(state: "40001", message: message, statement: 0) }

    /// Whether the database refuses a value: the same transaction without it can succeed.
    ///
    /// State 54000 is a key that no page of an index can hold. State 23505 is none of a value's: the keys of all
    /// insertions are arbiters. So a sequence is behind its table, and a person must look.
    var isForData: Bool {
        guard case .server(let state, _, _) = self else { return false }
        return state.hasPrefix("22") || state.hasPrefix("23") && state != "23505" || state == "54000"
    }

    /// Whether a limit of time has ended it: the server's for a statement, or ours for a call.
    var isOfTime: Bool {
        switch self {
        case .deadline: true
        case .server(let state, _, _): state == "57014"
        default: false
        }
    }

    /// Whether the transaction lost against another: by a deadlock, a conflict, or a lock that was held too long.
    var isWorthAnotherTry: Bool {
        guard case .server(let state, _, _) = self else { return false }
        return ["40001", "40P01", "55P03"].contains(state)
    }

    /// Whether a lock was held for longer than a statement waits for one, as by a step of the schema or `CREATE INDEX`.
    var isLockHeld: Bool {
        guard case .server("55P03", _, _) = self else { return false }
        return true
    }

    /// Whether only a person can mend it, as of a password.
    var isPersons: Bool {
        switch self {
        case .options, .unfit, .another: true
        case .server(let state, _, _): Self.isPersons(state)
        case .hosts(let failures): failures.allSatisfy(\.failure.isPersons)
        default: false
        }
    }

    /// The error for the caller.
    /// - Parameters:
    ///   - place: The server, without a password.
    ///   - isOpening: Whether the connection was about to be opened. A person is told then at once what only a person
    ///     can mend. A worker that ran waits for what a person may mend under it.
    func error(at place: String, isOpening: Bool) -> LedgerError {
        let detail = "\(place): \(text)"
        switch self {
        case .another: return .unusable(detail: detail)
        case .options, .unfit: return isOpening ? .unusable(detail: detail) : .unavailable(detail: detail)
        case .unreachable, .readOnly: return .unavailable(detail: detail)
        case .hosts(let failures):
            let isUnusable = failures.allSatisfy { host in
                if case .unusable = host.failure.error(at: place, isOpening: isOpening) { true } else { false }
            }
            return isUnusable ? .unusable(detail: detail) : .unavailable(detail: detail)
        case .lost, .deadline, .closed, .unknownCommit:
            return isOpening ? .unavailable(detail: detail) : .disconnected(detail: detail)
        case .server(let state, _, _):
            if isOpening {
                return Self.isPersons(state) || !Self.passes(state)
                    ? .unusable(detail: detail) : .unavailable(detail: detail)
            }
            if Self.ends(state) { return .disconnected(detail: detail) }
            return Self.passes(state) ? .unavailable(detail: detail) : .unusable(detail: detail)
        }
    }

    /// One line for people.
    var text: String {
        switch self {
        case .options(let text), .unfit(let text), .another(let text): text
        case .unreachable(let text): "cannot be reached: \(text)"
        case .hosts(let failures):
            "no host will do: " + failures.map { "\($0.host): \($0.failure.text)" }.joined(separator: "; ")
        case .readOnly(isStandby: true): "is a read-only standby; name all hosts, or the one that leads to the primary"
        case .readOnly(isStandby: false): "takes no writes from this user: default_transaction_read_only is on"
        case .server(let state, let message, _):
            "\(Self.words[state].map { "\($0): \(message)" } ?? message) (PostgreSQL \(state))"
        case .lost(let text): "the connection was lost: \(text)"
        case .deadline: "no answer in time"
        case .closed: "the connection is closed"
        case .unknownCommit: "a commit may not have reached the standbys: the wait for them was ended"
        }
    }

    static let pooler = "a connection pooler stands in between; name the server itself"

    // MARK: Kinds of SQLSTATE

    /// Authentication, a database that is not there, rights, a schema and its parts: a person's to mend.
    private static func isPersons(_ state: String) -> Bool {
        state.hasPrefix("28") || ["3D000", "3F000", "42501", "42P01", "42703", "42883"].contains(state)
    }

    /// The session is over. Or its server takes no writes any more, as after a failover. Or its tables or prepared
    /// statements are gone or others now, as after a backup was put back. The next opening examines the ledger.
    private static func ends(_ state: String) -> Bool {
        state.hasPrefix("08") || state.hasPrefix("57P")
            || ["0A000", "25006", "25P03", "25P04", "26000", "3D000", "3F000", "42P01", "42703", "42883"].contains(
                state)
    }

    /// It may pass by itself, or because a person mends the server or rights under the worker.
    private static func passes(_ state: String) -> Bool {
        switch state.prefix(2) {
        // Connections, who may connect, transactions that lost, resources, locks, operators, disks.
        case "08", "28", "40", "53", "55", "57", "58": true
        default: ["25006", "25P03", "25P04", "42501", "XX000"].contains(state)
        }
    }

    /// Said before the server's message, where that one does not say it.
    private static let words = [
        "25006": "is read-only", "28000": "the server lets this user not in", "40P01": "a deadlock",
        "42501": "this user lacks a right", "53100": "the server's disk is full",
        "53200": "the server is out of memory", "53300": "the server has no connection left",
        "55P03": "another transaction holds a lock", "57014": "a statement took too long",
        "XX001": "the server's data is damaged", "XX002": "an index of the server is damaged",
    ]
}

/// The failure of one of several hosts.
struct HostFailure: Hashable, Sendable {
    let host: String
    let failure: PostgresFailure
}

extension PostgresFailure {
    /// The error of a result; nil for one that libpq made because the connection broke.
    ///
    /// Messages about data quote the data, and messages of triggers may: of these only names are shown.
    init?(_ result: PostgresResult, statement: Int) {
        guard let state = result.field("C") else { return nil }
        guard ["22", "23", "P0"].contains(state.prefix(2)) else {
            let message = result.field("M") ?? "no message"
            self = .server(state: state, message: message.firstLine, statement: statement)
            return
        }
        let names = [("t", "table"), ("c", "column"), ("n", "constraint")].compactMap { letter, word in
            result.field(letter).map { "\(word) \($0)" }
        }
        let message = (["a value is refused"] + names).joined(separator: ", ")
        self = .server(state: state, message: message.firstLine, statement: statement)
    }

    /// Reads libpq's message about a connection that did not come about. A line stands for each address that was tried,
    /// and a server's own reply looks like `FATAL: 28P01: password authentication failed`. The last reply counts; where
    /// there is none, each address is named.
    init(opening message: String) {
        // Lines that begin with a tab are hints.
        let lines = message.split(whereSeparator: \.isNewline).filter { !$0.hasPrefix("\t") }
        for line in lines.reversed() {
            guard let match = line.firstMatch(of: #/:  ([0-9A-Z]{5}): /#) else { continue }
            let text = String(line[match.range.upperBound...])
            // A pooler takes no options of a session. Servers take them all.
            guard match.output.1 != "08P01" || !text.contains("startup parameter") else {
                self = .unfit(Self.pooler)
                return
            }
            self = .server(state: String(match.output.1), message: text.firstLine, statement: 0)
            return
        }
        var texts: [String] = []
        for line in lines where !line.hasPrefix("LOCATION:") && !texts.contains(String(line).firstLine) {
            texts.append(String(line).firstLine)
        }
        let text = texts.isEmpty ? "no message" : texts.joined(separator: "; ")
        // libpq does not say why.
        let hint = "; the URL's sslrootcert does not know its authority, or its time is over"
        self = .unreachable(text.hasSuffix("certificate verify failed") ? text + hint : text)
    }
}

extension String {
    /// Without what PostgreSQL adds on further lines.
    var firstLine: String { String(prefix { !$0.isNewline }.prefix(300)) }
}
