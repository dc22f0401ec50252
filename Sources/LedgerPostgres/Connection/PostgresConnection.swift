import CLibpq
import Glibc
import Ledger
import Scheduling

/// A connection of libpq's in pipeline mode: any number of statements go out together, and their replies come back
/// together. For one thread at a time.
///
/// No call waits longer than its limit, however dead the network is. Only the look-up of a host's name has limits of
/// its own (resolv.conf). A connection that broke, or was too slow, is closed and stays so.
final class PostgresConnection {
    /// Most statements that stay prepared, except within one run of more.
    static let maxPrepared = 256

    private let settings: PostgresSettings
    /// Nil once the connection is closed.
    private var handle: OpaquePointer?
    private var deadline = Instant.now
    /// The end of the call under way; nil outside of one.
    private var callEnds: Instant?
    /// Names of prepared statements by their SQL.
    private(set) var prepared: [String: String] = [:]
    private var names = 0
    /// Whether the server reported, within this call, that it no longer waits for standbys.
    private var isCommitUnknown = false
    /// The first error of this call.
    private var refusal: PostgresFailure?

    /// Connects to the first host that is the target, and sets the session up.
    ///
    /// libpq goes from host to host itself, but without blocking it never gives up a host that does not reply. So each
    /// host is a connection of its own here, with its own time limit.
    /// - Parameter admit: Looks at a session that is set up; the next host is tried where it throws.
    /// - Throws: If no host will do: its failure, or `.hosts` with those of all.
    init(
        _ options: PostgresOptions, _ settings: PostgresSettings = PostgresSettings(),
        admit: (PostgresConnection) throws(PostgresFailure) -> Void = { (_) throws(PostgresFailure) in }
    ) throws(PostgresFailure) {
        self.settings = settings
        try options.checkFiles()
        callEnds = settings.opening.map { .now + $0 }
        defer { callEnds = nil }
        var failures: [PostgresFailure] = []
        for host in options.hosts {
            do throws(PostgresFailure) {
                deadline = min(.now + options.connectTimeout, callEnds ?? .distantFuture)
                guard deadline > .now else { throw .unreachable("no time is left for it") }
                try connect(options, host)
                session = try PostgresSession(self, settings, options.target)
                try admit(self)
                return
            } catch {
                close()
                session = nil
                failures.append(error)
            }
        }
        if let only = failures.first, failures.count == 1 { throw only }
        throw .hosts(zip(options.hosts, failures).map { HostFailure(host: "\($0)", failure: $1) })
    }

    deinit { close() }

    /// Nil only while the session is not set up.
    private(set) var session: PostgresSession?

    /// The server's process for this connection, as the protocol names it.
    var backend: Int64 { Int64(PQbackendPID(handle)) }

    var isClosed: Bool { handle == nil }

    /// Runs a block as one call: its round trips together wait no longer than one call may.
    func call<Value>(_ body: () throws(PostgresFailure) -> Value) throws(PostgresFailure) -> Value {
        callEnds = .now + settings.call
        defer { callEnds = nil }
        return try body()
    }

    /// Until the end of the call under way; a whole call's time outside of one.
    var timeLeft: Duration { callEnds.map { $0 - .now } ?? settings.call }

    /// Sends statements in one message with one Sync, and waits for all replies: one round trip. They are one
    /// transaction, unless `BEGIN` or `COMMIT` is among them.
    ///
    /// - Returns: One result for each statement.
    /// - Throws: `.server` with the first error: later statements did not run, and an open transaction was rolled back.
    ///   After any other failure the connection is closed.
    @discardableResult
    func run(_ statements: [PostgresStatement]) throws(PostgresFailure) -> [PostgresResult] {
        try begin(within: settings.call)
        guard !statements.isEmpty else { return [] }
        let unknown = Set(statements.lazy.map(\.sql).filter { self.prepared[$0] == nil })
        if !unknown.isEmpty, !prepared.isEmpty, prepared.count + unknown.count > Self.maxPrepared {
            _ = try settle(exchange([.once("DEALLOCATE ALL")]))
            prepared = [:]
        }
        var steps: [Step] = []
        var preparing: [String: String] = [:]
        for (index, statement) in statements.enumerated() {
            if let name = prepared[statement.sql] ?? preparing[statement.sql] {
                steps.append(.execute(name, statement, index))
                continue
            }
            names += 1
            let name = "s\(names)"
            preparing[statement.sql] = name
            steps += [.prepare(name, statement, index), .execute(name, statement, index)]
        }
        let results = try settle(exchange(steps))
        guard results.count == statements.count else { throw lost("a statement has no result") }
        return results
    }

    /// Runs SQL of several statements without values, such as a migration: one transaction, unless it says otherwise.
    /// The server's limits hold, unless it sets others.
    /// - Parameter limit: Instead of the setting for calls.
    func script(_ sql: String, within limit: Duration? = nil) throws(PostgresFailure) {
        try begin(within: limit ?? settings.call)
        guard PQexitPipelineMode(handle) == 1, PQsendQuery(handle, sql) == 1 else { throw lost() }
        while let result = try next() {
            switch result.status {
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY: break
            default: try keepFailure(result, statement: 0)
            }
        }
        guard PQenterPipelineMode(handle) == 1 else { throw lost() }
        _ = try settle([])
    }

    /// Whether a transaction is open.
    var isInTransaction: Bool { handle != nil && PQtransactionStatus(handle) != PQTRANS_IDLE }

    /// Ends an open transaction; does nothing without one.
    func rollBack() throws(PostgresFailure) {
        guard isInTransaction else { return }
        try begin(within: settings.call)
        _ = try settle(exchange([.once("ROLLBACK")]))
    }

    func close() {
        PQfinish(handle)
        handle = nil
    }

    // MARK: A call

    private enum Step {
        case prepare(_ name: String, PostgresStatement, _ index: Int)
        case execute(_ name: String, PostgresStatement, _ index: Int)
        /// Not kept: only its failure matters.
        case once(_ sql: String)

        var index: Int {
            switch self {
            case .prepare(_, _, let index), .execute(_, _, let index): index
            case .once: 0
            }
        }
    }

    private func begin(within limit: Duration) throws(PostgresFailure) {
        guard handle != nil else { throw .closed }
        // Setting the session up is part of connecting.
        if session != nil { deadline = callEnds ?? .now + limit }
        isCommitUnknown = false
        refusal = nil
    }

    /// The results, unless something failed. Rolls an open transaction back after an error, at once: the server ends
    /// sessions that leave one open.
    private func settle(_ results: [PostgresResult]) throws(PostgresFailure) -> [PostgresResult] {
        if isCommitUnknown {
            close()
            throw .unknownCommit
        }
        guard let refusal else { return results }
        if isInTransaction {
            // Where this fails the connection is closed, and the server rolls back by itself.
            _ = try? exchange([.once("ROLLBACK")])
        }
        throw refusal
    }

    /// Sends steps and a Sync, and takes all replies up to that Sync's.
    private func exchange(_ steps: [Step]) throws(PostgresFailure) -> [PostgresResult] {
        for step in steps { guard send(step) == 1 else { throw lost() } }
        guard PQpipelineSync(handle) == 1 else { throw lost() }
        var results: [PostgresResult] = []
        var position = 0
        while true {
            guard let result = try next() else {
                // The reply to one step is complete, or the reply to an error of the final commit.
                position += 1
                guard position <= steps.count + 1 else { throw lost("an answer to no statement") }
                continue
            }
            switch result.status {
            case PGRES_PIPELINE_SYNC: return results
            case PGRES_PIPELINE_ABORTED: break
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK, PGRES_EMPTY_QUERY:
                guard position < steps.count else { throw lost("an answer to no statement") }
                switch steps[position] {
                case .prepare(let name, let statement, _): prepared[statement.sql] = name
                case .execute: results.append(result)
                case .once: break
                }
            default: try keepFailure(result, statement: steps[min(position, steps.count - 1)].index)
            }
        }
    }

    /// Keeps the first error, and closes the connection after one that is libpq's own.
    private func keepFailure(_ result: PostgresResult, statement: Int) throws(PostgresFailure) {
        guard let failure = PostgresFailure(result, statement: statement) else { throw lost() }
        refusal = refusal ?? failure
    }

    /// Puts a step into libpq's buffer; never blocks.
    private func send(_ step: Step) -> CInt {
        switch step {
        case .prepare(let name, let statement, _):
            return PQsendPrepare(handle, name, statement.sql, 0, nil)
        case .execute(let name, let statement, _):
            let parameters = statement.parameters
            let formats = [CInt](repeating: 1, count: parameters.count)
            return parameters.withPointers { values, lengths in
                PQsendQueryPrepared(handle, name, CInt(clamping: parameters.count), values, lengths, formats, 1)
            }
        case .once(let sql):
            return PQsendQueryParams(handle, sql, 0, nil, nil, nil, nil, 1)
        }
    }

    // MARK: The wire

    /// The next result; nil at the end of one statement's. Sends and receives by turns, because the server stops
    /// reading while its replies are not taken.
    private func next() throws(PostgresFailure) -> PostgresResult? {
        while true {
            let unsent = PQflush(handle)
            guard unsent >= 0 else { throw lost() }
            if PQisBusy(handle) == 0 { break }
            try wait(for: POLLIN | (unsent > 0 ? POLLOUT : 0))
            // Answers that came before the end can still be read.
            if PQconsumeInput(handle) == 0, PQisBusy(handle) == 1 { throw lost() }
        }
        guard let result = PQgetResult(handle) else {
            guard PQstatus(handle) == CONNECTION_OK else { throw lost() }
            return nil
        }
        return PostgresResult(result)
    }

    private func wait(for events: Int32) throws(PostgresFailure) {
        while true {
            let left = (deadline - .now).milliseconds
            guard left > 0 else {
                close()
                throw .deadline
            }
            var entry = pollfd(fd: PQsocket(handle), events: Int16(events), revents: 0)
            // poll(2) would wait for a descriptor that is none until the limit.
            guard entry.fd >= 0 else { throw lost() }
            let ready = poll(&entry, 1, CInt(clamping: left))
            if ready > 0 { return }
            if ready < 0, errno != EINTR { throw lost("poll failed (errno \(errno))") }
        }
    }

    /// Closes the connection. The server's last word, where there is one, says more than libpq's.
    private func lost(_ text: String? = nil) -> PostgresFailure {
        let message = PQerrorMessage(handle).map { String(cString: $0).firstLine } ?? ""
        close()
        return .lost(refusal?.text ?? text ?? (message.isEmpty ? "no message" : message))
    }

    // MARK: Connecting

    private func connect(_ options: PostgresOptions, _ host: PostgresOptions.Host) throws(PostgresFailure) {
        (prepared, refusal) = ([:], nil)
        let password = try password(options)
        handle = options.withKeywords(for: host, password: password) { PQconnectStartParams($0, $1, 0) }
        guard handle != nil else { throw .unreachable("out of memory") }
        // With it a refusal has its SQLSTATE, which libpq offers in no other way before there is a connection.
        PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
        PQsetNoticeReceiver(handle, Self.receiveNotice, Unmanaged.passUnretained(self).toOpaque())
        var step = PGRES_POLLING_WRITING
        while step != PGRES_POLLING_OK {
            guard PQstatus(handle) != CONNECTION_BAD, step != PGRES_POLLING_FAILED else { throw noConnection() }
            do throws(PostgresFailure) {
                try wait(for: step == PGRES_POLLING_READING ? POLLIN : POLLOUT)
            } catch {
                throw error == .deadline ? .unreachable("no answer in time") : error
            }
            step = PQconnectPoll(handle)
        }
        guard PQsetnonblocking(handle, 1) == 0, PQenterPipelineMode(handle) == 1 else { throw lost() }
    }

    private func password(_ options: PostgresOptions) throws(PostgresFailure) -> String? {
        do throws(LedgerError) { return try options.password?() } catch { throw .options(error.detail) }
    }

    private func noConnection() -> PostgresFailure {
        if PQconnectionNeedsPassword(handle) == 1 {
            return .options("the server wants a password, and there is none (GRANTOR_LEDGER_PASSWORD_FILE)")
        }
        return PostgresFailure(opening: PQerrorMessage(handle).map { String(cString: $0) } ?? "")
    }

    /// A server that was ordered to stop waiting for standbys says so in a warning, and reports success. Words of
    /// warnings are in the server's language, and only this function of the server's waits (syncrep.c).
    private static let receiveNotice: PQnoticeReceiver = { context, result in
        guard let context, let function = PQresultErrorField(result, CInt(UInt8(ascii: "R"))),
            String(cString: function) == "SyncRepWaitForLSN"
        else { return }
        Unmanaged<PostgresConnection>.fromOpaque(context).takeUnretainedValue().isCommitUnknown = true
    }
}
