import Contract
import FileTesting
import Foundation
import Glibc
import HTTPServer
import Ledger
import Logging
import Metrics
import Scheduling
import Synchronization
import Testing

@testable import Commands
@testable import Configuration

/// Requests and what becomes of them, for tests of the read-only API.
enum APITesting {
    static let token = "support-tool_0123456789abcdefghij"
    static let otherToken = "backend-0123456789abcdefghijklmno"

    /// A request's head as the server reads it.
    static func head(
        _ target: String, method: String = "GET", token: String? = APITesting.token
    ) throws -> RequestHead {
        var reader = HeadReader()
        let field = token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
        reader.append(Array("\(method) \(target) HTTP/1.1\r\nHost: a\r\n\(field)\r\n".utf8))
        return try #require(try reader.next())
    }

    static func tokensFile(_ tokens: [String], in folder: TemporaryFolder) throws -> TokensFile {
        let path = folder.path + "/tokens"
        try write(tokens, to: path)
        return TokensFile(path: path)
    }

    static func write(_ tokens: [String], to path: String) throws {
        try tokens.map { $0 + "\n" }.joined().write(toFile: path, atomically: true, encoding: .utf8)
    }
}

/// A handler with a ledger and a clock that a test sets, and its log.
final class APIStage {
    private final class Lines: LogHandler, Sendable {
        let all = Mutex<[String]>([])

        func log(_ level: Logger.Level, _ label: String, _ message: String, _ metadata: Logger.Metadata) {
            all.withLock { $0.append("\(level.rawValue): \(message) \(metadata.values.map(\.description).sorted())") }
        }
    }

    private final class World: Sendable {
        let failure = Mutex<LedgerError?>(nil)
        let clock = Mutex(Instant(nanoseconds: 0))
        let opened = Mutex(0)
    }

    let registry = PrometheusRegistry()
    let ledger = FixedLedger()
    let tokensFile: TokensFile
    private let folder: TemporaryFolder
    private let lines = Lines()
    private let world = World()
    private var handler: APIHandler

    init(_ tokens: String...) throws {
        folder = try TemporaryFolder()
        tokensFile = try APITesting.tokensFile(tokens.isEmpty ? [APITesting.token] : tokens, in: folder)
        let (world, ledger) = (world, ledger)
        handler = APIHandler(
            tokensFile: tokensFile, logger: Logger(label: "api", level: .debug, handler: lines),
            metrics: APIMetrics(registry)
        ) { () throws(LedgerError) in
            world.opened.withLock { $0 += 1 }
            if let failure = world.failure.withLock({ $0 }) { throw failure }
            return ledger
        }
        handler.now = { world.clock.withLock { $0 } }
    }

    var log: [String] { lines.all.withLock { $0 } }
    var openings: Int { world.opened.withLock { $0 } }

    func advance(by time: Duration) { world.clock.withLock { $0 = $0 + time } }
    /// The ledger refuses every question about one submission, each after so long.
    func refuse(_ error: LedgerError, after time: Duration) {
        ledger.refuse(error) { [world] in world.clock.withLock { $0 = $0 + time } }
    }

    /// Time that has passed since the start.
    var elapsed: Duration { world.clock.withLock { $0 } - Instant(nanoseconds: 0) }
    func fail(_ error: LedgerError?) { world.failure.withLock { $0 = error } }

    func reply(
        _ target: String, method: String = "GET", token: String? = APITesting.token
    ) throws -> (status: Int, body: String, fields: [HeaderField]) {
        let reply = try #require(
            handler.replies(to: [try APITesting.head(target, method: method, token: token)]).first)
        return (reply.status, String(decoding: reply.body, as: UTF8.self), reply.fields)
    }

    /// The replies to requests that have come together.
    func replies(_ targets: [String]) throws -> [(status: Int, body: String)] {
        handler.replies(to: try targets.map { try APITesting.head($0) })
            .map { ($0.status, String(decoding: $0.body, as: UTF8.self)) }
    }
}
