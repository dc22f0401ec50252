import Configuration
import Contract
import Foundation
import Glibc
import Ledger
import Logging
import PostgresTesting
import Testing
import Threading

@testable import Worker

/// A worker at its start where no ledger is.
@Suite struct LedgerOpeningTests {
    /// - Returns: the ledger's id, or the line with which the worker ends.
    private func start(
        _ settings: LedgerSettings, group: ConsumerGroup = Self.group()
    ) throws -> Result<String?, LedgerError> {
        let logger = Logger(label: "test", level: .critical, handler: LineLogHandler(format: .text))
        do throws(LedgerError) {
            return .success(try LedgerOpening(settings, group: group).wait(try events(), logger: logger))
        } catch {
            return .failure(error)
        }
    }

    fileprivate static func group(
        _ name: String = "grantor", cluster: String? = nil, submitted: String = Topic.submitted.defaultName
    ) -> ConsumerGroup {
        ConsumerGroup(name: name, cluster: cluster) { $0 == .submitted ? submitted : $0.defaultName }
    }

    private func events() throws(LedgerError) -> Mailbox<ProcessEvent> {
        do { return try Mailbox(bound: 9) } catch { throw .unavailable(detail: "\(error)") }
    }

    @Test("On a server it makes none: others may share it, so it ends with a line that says who makes one")
    func server() throws {
        let server = try PostgresServer(settings: ["fsync = on"])
        defer { server.stop() }
        try server.createDatabase("empty")
        let url = try #require(PostgresURL(server.url(database: "empty") + "&connect_timeout=180"))
        guard case .failure(.unusable(let line)) = try start(.postgres(url)) else {
            Issue.record("it began")
            return
        }
        #expect(line.contains("it has no ledger") && line.contains("grantor migrate makes one"))
        #expect(!line.contains("\n"))
        let tables = "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace"
        #expect(try server.run(tables, database: "empty") == "0")
    }

    @Test("A reader beside a worker answers from the worker's database alone")
    func reader() throws {
        let server = try PostgresServer(settings: ["fsync = on"])
        defer { server.stop() }
        try server.createDatabase("ledger")
        let url = try #require(PostgresURL(server.url(database: "ledger") + "&connect_timeout=180"))
        _ = try LedgerDriver(.postgres(url)).migrate()
        let opening = try LedgerOpening(.postgres(url), group: Self.group())
        let logger = Logger(label: "test", level: .critical, handler: LineLogHandler(format: .text))
        let id = try #require(try opening.wait(try events(), logger: logger))
        #expect(try opening.driver.openReader(within: .seconds(60)).identity() == id)
        try server.run("UPDATE ledger SET id = 'another'", database: "ledger")
        #expect(throws: LedgerError.self) { _ = try opening.driver.openReader(within: .seconds(60)) }
    }

    private func withFile(_ body: (LedgerSettings) throws -> Void) throws {
        try withPath { try body(LedgerSettings.sqlite(path: $0)) }
    }

    private func withPath(_ body: (String) throws -> Void) throws {
        let folder = URL(filePath: "/dev/shm").appending(path: "grantor-opening-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        try body(folder.appending(path: "ledger.db").path)
    }

    @Test("A file has one worker, which makes it")
    func file() throws {
        try withFile { settings in
            let id = try start(settings).get()
            #expect(id?.utf8.count == 32)
        }
    }

    /// Another worker's right to a file. It ends once the worker that waits says so.
    private final class OtherWorker: LogHandler {
        private let file: CInt

        init(_ path: String) {
            file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
            flock(file, LOCK_EX | LOCK_NB)
        }

        deinit { close(file) }

        func log(_ level: Logger.Level, _ label: String, _ message: String, _ metadata: Logger.Metadata) {
            flock(file, LOCK_UN)
        }
    }

    @Test("An order to read the apps file again that comes while a worker waits is there when it begins")
    func reloadMeanwhile() throws {
        try withPath { path in
            let other = OtherWorker(path)
            let events = try events()
            for _ in 0..<3 { events.post(.reload) }
            let opening = try LedgerOpening(LedgerSettings.sqlite(path: path), group: Self.group())
            let id = try opening.wait(events, logger: Logger(label: "test", level: .notice, handler: other))
            #expect(id != nil)
            var left: [ProcessEvent] = []
            events.takeAll(into: &left)
            #expect(left.map { if case .reload = $0 { true } else { false } } == [true])
        }
    }

    @Test("An order to stop ends a worker that waits")
    func stopMeanwhile() throws {
        try withPath { path in
            let other = OtherWorker(path)
            let events = try events()
            events.post(contentsOf: [.reload, .stop])
            let opening = try LedgerOpening(LedgerSettings.sqlite(path: path), group: Self.group())
            #expect(try opening.wait(events, logger: Logger(label: "test", level: .notice, handler: other)) == nil)
        }
    }

    @Test("Before its group lets a worker in, it works on nothing; then the ledger is the group's")
    func joining() throws {
        try withFile { settings in
            _ = try start(settings).get()
            let opening = try LedgerOpening(settings, group: Self.group())
            let detail = "the group has not let the worker in, so its cluster is not known"
            #expect(throws: LedgerError.unavailable(detail: detail)) { try opening.open() }
            opening.joined(cluster: "cluster-1")
            _ = try opening.open()
            let owner = try LedgerDriver(settings).open().group()
            #expect(owner == Self.group(cluster: "cluster-1"))
        }
    }

    @Test(
        "A worker ends beside the ledger of another group or other topics, before it joins its own group",
        arguments: [LedgerOpeningTests.group("another"), LedgerOpeningTests.group(submitted: "others.submitted")])
    func foreign(another: ConsumerGroup) throws {
        try withFile { settings in
            let id = try #require(try start(settings).get())
            let owner = Self.group(cluster: "cluster-1")
            _ = try LedgerDriver(settings).open().bind(to: owner)
            let line = try #require(another.refusal(of: id, owner: owner))
            #expect(try start(settings, group: another) == .failure(.unusable(detail: line)))
        }
    }

    @Test("A worker ends beside the ledger of another cluster, once its group has let it in")
    func elsewhere() throws {
        try withFile { settings in
            let id = try #require(try start(settings).get())
            let owner = Self.group(cluster: "cluster-1")
            _ = try LedgerDriver(settings).open().bind(to: owner)
            let elsewhere = Self.group(cluster: "cluster-2")
            let opening = try LedgerOpening(settings, group: Self.group())
            opening.joined(cluster: "cluster-2")
            let detail = try #require(elsewhere.refusal(of: id, owner: owner))
            #expect(throws: LedgerError.unusable(detail: detail)) { try opening.open() }
            let still = try LedgerDriver(settings).open().group()
            #expect(still == owner)
        }
    }

    @Test("A worker whose ledger was moved under it ends at its next look")
    func moved() throws {
        try withFile { settings in
            let id = try #require(try start(settings).get())
            let opening = try LedgerOpening(settings, group: Self.group())
            opening.joined(cluster: "cluster-1")
            let connection = try opening.open()
            try opening.demandGroup(of: connection)
            let owner = Self.group(cluster: "cluster-1", submitted: "others.submitted")
            let note = OperatorNote(actor: "anna", reason: "moved", at: Timestamp(milliseconds: 0))
            #expect(try LedgerDriver(settings).open().accept(ledger: id, for: owner, [:], note))
            let line = try #require(Self.group(cluster: "cluster-1").refusal(of: id, owner: owner))
            #expect(throws: LedgerError.unusable(detail: line)) { try opening.demandGroup(of: connection) }
        }
    }
}
