import Foundation
import SocketTesting

/// Plays a server that no machine here has: says one thing to a session, and ends.
final class PlayedServer: Sendable {
    enum Part: Sendable {
        /// Lets nobody in.
        case refusing(state: String, text: String)
        /// Answers a session's first question.
        /// - Parameters:
        ///   - version: `server_version_num`.
        ///   - backend: The number of the process that answers; sessions begin with process 1.
        case answering(version: Int64, backend: Int64)
    }

    /// The folder of the socket, as a URL names it.
    let folder: String
    private let listener: Int32

    init(_ part: Part) throws {
        folder = "/tmp/grantor-played-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        listener = try UnixSocket.listening(at: "\(folder)/.s.PGSQL.5432")
        Thread.detachNewThread { [listener] in
            while case let client = accept(listener, nil, nil), client >= 0 { Self.serve(client, part) }
            // Only here: its number would be another server's while this thread still takes sessions.
            close(listener)
        }
    }

    var url: String { "postgres://kim@/grantor?host=\(folder)" }

    func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        try? FileManager.default.removeItem(atPath: folder)
    }

    /// Messages come in one piece each, because they are small.
    private static func serve(_ client: Int32, _ part: Part) {
        defer { close(client) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        guard recv(client, &bytes, bytes.count, 0) > 0 else { return }
        switch part {
        case .refusing(let state, let text):
            let fields = ["SFATAL", "VFATAL", "C\(state)", "M\(text)", "Fplayed.c", "L1", "Rplay"]
            send(message("E", fields.flatMap { Array($0.utf8) + [0] } + [0]), to: client)
        case .answering(let version, let backend):
            // Let in, process 1, ready.
            send(message("R", [0, 0, 0, 0]) + message("K", big(1, 4) + big(7, 4)) + ready, to: client)
            guard recv(client, &bytes, bytes.count, 0) > 0 else { return }
            let row: [[UInt8]] = [
                big(version, 8), Array("public".utf8), Array("on".utf8), Array("on".utf8), [0], [0], Array("UTF8".utf8),
                big(backend, 4),
            ]
            let columns = row.indices.flatMap { _ in
                [UInt8(ascii: "c"), 0] + big(0, 6) + big(25, 4) + big(-1, 6) + big(1, 2)
            }
            let description = message("T", big(Int64(row.count), 2) + columns)
            let data = message("D", big(Int64(row.count), 2) + row.flatMap { big(Int64($0.count), 4) + $0 })
            let answer = message("1", []) + message("2", []) + description + data
            send(answer + message("C", Array("SELECT 1".utf8) + [0]) + ready, to: client)
            // Until the session ends.
            while recv(client, &bytes, bytes.count, 0) > 0 {}
        }
    }

    private static let ready = message("Z", [UInt8(ascii: "I")])

    private static func message(_ type: Character, _ body: [UInt8]) -> [UInt8] {
        [type.asciiValue ?? 0] + big(Int64(body.count) + 4, 4) + body
    }

    private static func big(_ value: Int64, _ count: Int) -> [UInt8] {
        (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> Int64(8 * min($0, 7))) }
    }

    private static func send(_ bytes: [UInt8], to client: Int32) {
        _ = Glibc.send(client, bytes, bytes.count, Int32(MSG_NOSIGNAL))
    }
}
