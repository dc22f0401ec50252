internal import CLibpq
import Glibc

/// A connection of libpq's, always in pipeline mode: any number of commands go out in one message, and their answers come
/// back in one.
///
/// Blocking, and for one thread only. No call blocks longer than the deadline, however dead the network is; only the look-up
/// of a host's name has time limits of its own.
final class PostgresConnection {
    private let handle: OpaquePointer
    /// Statements that the server keeps for this connection.
    private var prepared: Set<String> = []
    /// Moment after which every wait ends in `.lost`.
    private var deadline: ContinuousClock.Instant
    /// Whether the connection can no longer be used.
    private(set) var isBroken = false

    /// Connects and authenticates.
    ///
    /// - Throws: `.unreachable`.
    init(_ options: PostgresOptions, within limit: Duration) throws(PostgresFailure) {
        deadline = ContinuousClock.now.advanced(by: limit)
        guard let handle = options.withKeywordsAndValues({ PQconnectStartParams($0, $1, 0) }) else {
            throw .unreachable("out of memory", state: nil)
        }
        self.handle = handle
        // With it a refusal says its SQLSTATE, which libpq has no other way to tell before a connection exists.
        PQsetErrorVerbosity(handle, PQERRORS_VERBOSE)
        // Messages of the server's are not for standard error.
        PQsetNoticeReceiver(handle, { _, _ in }, nil)
        try connect()
        guard PQsetnonblocking(handle, 1) == 0, PQenterPipelineMode(handle) == 1 else {
            throw .unreachable("pipeline mode could not be entered", state: nil)
        }
    }

    deinit {
        PQfinish(handle)
    }

    /// Gives what follows so much time.
    func allow(_ limit: Duration) {
        deadline = ContinuousClock.now.advanced(by: limit)
    }

    /// Whether the server still has the connection, as far as can be told without asking it.
    func isAlive() -> Bool {
        guard !isBroken, PQstatus(handle) == CONNECTION_OK else { return false }
        var waiting = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
        guard poll(&waiting, 1, 0) > 0 else { return true }
        // Nothing was asked, so what comes is a farewell, or a notice that changes nothing.
        guard PQconsumeInput(handle) == 1, PQstatus(handle) == CONNECTION_OK else { return false }
        waiting.revents = 0
        return poll(&waiting, 1, 0) <= 0
    }

    /// Sends commands in one message and waits for all answers.
    ///
    /// Outside of a transaction they are one by themselves. After a refused command the rest is not run.
    ///
    /// - Returns: one result per command.
    /// - Throws: `.refused` with the first refusal, `.lost`.
    @discardableResult
    func run(_ commands: [PostgresCommand]) throws(PostgresFailure) -> [PostgresResult] {
        let sent = try send(commands)
        var results: [PostgresResult] = []
        var refusal: PostgresFailure?
        for command in sent {
            let result = try answer()
            switch result.status {
            case PGRES_COMMAND_OK, PGRES_TUPLES_OK:
                if case .preparation(let name) = command { prepared.insert(name) } else { results.append(result) }
            case PGRES_PIPELINE_ABORTED:
                break
            default:
                guard let state = result.state else { throw broken(result.message) }
                refusal = refusal ?? .refused(result.message, state: state)
            }
            try expectNoMore()
        }
        guard try answer().status == PGRES_PIPELINE_SYNC else { throw broken("unexpected answer") }
        if let refusal { throw refusal }
        return results
    }

    /// Runs one command.
    @discardableResult
    func run(_ command: PostgresCommand) throws(PostgresFailure) -> PostgresResult {
        guard let result = try run([command]).first else { throw broken("unexpected answer") }
        return result
    }

    /// Sends commands and `COMMIT` in one message: a worker that stops in between keeps nobody waiting.
    func commit(_ commands: [PostgresCommand] = []) throws(PostgresFailure) -> [PostgresResult] {
        var results = try run(commands + [PostgresCommand(.commit)])
        guard results.popLast()?.tag == "COMMIT" else { throw .damaged("a transaction did not commit") }
        return results
    }

    /// Whether a transaction is open and can go on.
    var isInTransaction: Bool { PQtransactionStatus(handle) == PQTRANS_INTRANS }

    /// Ends a transaction that is open, and nothing if none is.
    func rollBack() {
        guard !isBroken, PQtransactionStatus(handle) != PQTRANS_IDLE else { return }
        do throws(PostgresFailure) {
            try run(PostgresCommand(.rollback))
        } catch {
            // The server rolls back what it loses the connection to.
            isBroken = true
        }
    }

    /// Runs SQL text of several statements, as migrations are, in the transaction that is open.
    func runScript(_ sql: String) throws(PostgresFailure) {
        guard PQexitPipelineMode(handle) == 1, PQsendQuery(handle, sql) == 1 else { throw broken() }
        var refusal: PostgresFailure?
        while let result = try next() {
            guard result.status == PGRES_FATAL_ERROR else { continue }
            guard let state = result.state else { throw broken(result.message) }
            refusal = .refused(result.message, state: state)
        }
        guard PQenterPipelineMode(handle) == 1 else { throw broken() }
        if let refusal { throw refusal }
    }

    // MARK: Sending

    private enum Sent {
        case preparation(String)
        case command
    }

    private func send(_ commands: [PostgresCommand]) throws(PostgresFailure) -> [Sent] {
        guard !isBroken else { throw .lost("the connection is broken") }
        var sent: [Sent] = []
        var preparing: Set<String> = []
        for command in commands {
            let statement = command.statement
            if !statement.name.isEmpty, !prepared.contains(statement.name), preparing.insert(statement.name).inserted {
                guard PQsendPrepare(handle, statement.name, statement.sql, 0, nil) == 1 else { throw broken() }
                sent.append(.preparation(statement.name))
            }
            guard Self.send(command, on: handle) else { throw broken() }
            sent.append(.command)
        }
        guard PQpipelineSync(handle) == 1 else { throw broken() }
        return sent
    }

    private static func send(_ command: PostgresCommand, on handle: OpaquePointer) -> Bool {
        // libpq copies the values into its buffer before the call returns.
        let statement = command.statement
        let count = CInt(command.parameters.count)
        let lengths = command.parameters.map { CInt($0.bytes?.count ?? 0) }
        let formats = [CInt](repeating: 1, count: command.parameters.count)
        let values = command.parameters.map { value -> UnsafeMutablePointer<CChar>? in
            guard let bytes = value.bytes else { return nil }
            let copy = UnsafeMutablePointer<CChar>.allocate(capacity: max(bytes.count, 1))
            UnsafeMutableRawPointer(copy).copyMemory(from: bytes, byteCount: bytes.count)
            return copy
        }
        defer { for value in values { value?.deallocate() } }
        let pointers = values.map { UnsafePointer($0) }
        if statement.name.isEmpty {
            return PQsendQueryParams(handle, statement.sql, count, nil, pointers, lengths, formats, 1) == 1
        }
        return PQsendQueryPrepared(handle, statement.name, count, pointers, lengths, formats, 1) == 1
    }

    // MARK: Receiving

    private func answer() throws(PostgresFailure) -> PostgresResult {
        guard let result = try next() else { throw broken("unexpected answer") }
        return result
    }

    private func expectNoMore() throws(PostgresFailure) {
        guard try next() == nil else { throw broken("unexpected answer") }
    }

    private func next() throws(PostgresFailure) -> PostgresResult? {
        while true {
            let unsent = PQflush(handle)
            guard unsent >= 0 else { throw broken() }
            if unsent == 0, PQisBusy(handle) == 0 { break }
            try wait(for: POLLIN | (unsent > 0 ? POLLOUT : 0))
            guard PQconsumeInput(handle) == 1 else { throw broken() }
        }
        let result = PQgetResult(handle).map(PostgresResult.init)
        // A farewell comes as an answer of its own, which says more than the loss that follows it.
        if PQstatus(handle) != CONNECTION_OK, result?.state == nil { throw broken(result?.message) }
        return result
    }

    private func wait(for events: Int32) throws(PostgresFailure) {
        while true {
            let left = ContinuousClock.now.duration(to: deadline).wholeMillisecondsUp
            guard left > 0 else { throw broken("no answer in time") }
            var waiting = pollfd(fd: PQsocket(handle), events: Int16(events), revents: 0)
            let ready = poll(&waiting, 1, CInt(clamping: left))
            if ready > 0 { return }
            if ready < 0, errno != EINTR { throw broken("poll failed (errno \(errno))") }
        }
    }

    private func broken(_ text: String? = nil) -> PostgresFailure {
        isBroken = true
        return .lost(text ?? PQerrorMessage(handle).map { String(cString: $0).firstLine } ?? "no message")
    }

    // MARK: Connecting

    private func connect() throws(PostgresFailure) {
        var step = PGRES_POLLING_WRITING
        while true {
            switch step {
            case PGRES_POLLING_OK: return
            case PGRES_POLLING_READING: try waitForConnection(POLLIN)
            case PGRES_POLLING_WRITING: try waitForConnection(POLLOUT)
            default: throw refusal()
            }
            step = PQconnectPoll(handle)
        }
    }

    private func refusal() -> PostgresFailure {
        let refusal = ConnectionRefusal(PQerrorMessage(handle).map { String(cString: $0) } ?? "")
        guard refusal.state == nil, PQconnectionNeedsPassword(handle) == 1 else { return refusal.failure }
        return .misconfigured(
            "PostgreSQL wants a password, and there is none (passfile= in the URL, PGPASSFILE or PGPASSWORD)")
    }

    private func waitForConnection(_ events: Int32) throws(PostgresFailure) {
        guard PQstatus(handle) != CONNECTION_BAD else { throw refusal() }
        do throws(PostgresFailure) {
            try wait(for: events)
        } catch {
            throw .unreachable("no connection in time", state: nil)
        }
    }
}
