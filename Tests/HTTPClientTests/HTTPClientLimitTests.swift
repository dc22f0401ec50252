import Testing

@testable import HTTPClient

/// The limits of a server's reply.
@Suite(.timeLimit(.minutes(5)))
struct HTTPClientLimitTests {
    @Test("A body at the limit is taken")
    func bodyAtLimit() throws {
        try Setup.run(
            configure: { $0.maxResponseBytes = 1000 }, script: { _ in [.send(.ok(body(1000)))] }
        ) { setup in
            let response = try setup.get()
            #expect(response.body.count == 1000)
        }
    }

    @Test("A body announced over the limit is not waited for")
    func announced() throws {
        try Setup.run(
            configure: { $0.maxResponseBytes = 1000 },
            script: { _ in [.send("HTTP/1.1 200 OK\r\nContent-Length: 1001\r\n\r\n")] }
        ) { setup in
            let error = try setup.failure()
            #expect(error == .bodyTooLarge)
            setup.server.closedConnections.reaches(1)
        }
    }

    @Test("A chunked body is put together, and its trailers are left out")
    func chunked() throws {
        try Setup.run(script: { _ in
            [
                .send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"),
                .send("6\r\n world\r\n0\r\nX-Trailer: 1\r\n\r\n"),
            ]
        }) { setup in
            let response = try setup.get()
            #expect(response.body == Array("hello world".utf8))
            #expect(response.header("x-trailer") == nil)
        }
    }

    @Test("A chunked body that goes over the limit ends there")
    func chunkedBeyond() throws {
        let chunk = "3e8\r\n\(body(1000))\r\n"
        try Setup.run(
            configure: { $0.maxResponseBytes = 1500 },
            script: { _ in [.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(chunk)\(chunk)")] }
        ) { setup in
            let error = try setup.failure()
            #expect(error == .bodyTooLarge)
            setup.server.closedConnections.reaches(1)
        }
    }

    @Test("A compressed body comes decompressed")
    func compressed() throws {
        // gzip of "hello hello hello hello", made with Python's gzip module.
        let packed: [UInt8] = [
            0x1f, 0x8b, 0x08, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x03, 0xcb, 0x48, 0xcd, 0xc9, 0xc9, 0x57, 0xc8, 0x40,
            0x27, 0x01, 0xe3, 0x51, 0x3d, 0x8d, 0x17, 0x00, 0x00, 0x00,
        ]
        try Setup.run(script: { _ in [.send(gzipHead(packed.count)), .sendBytes(packed)] }) { setup in
            let response = try setup.client.result(setup.request(acceptsGzip: true)).get()
            #expect(response.body == Array("hello hello hello hello".utf8))
            #expect(setup.server.log.all.first?.head.contains("Accept-Encoding: gzip, deflate\r\n") == true)
        }
    }

    @Test("A small compressed body that would become a large one ends at the limit")
    func compressedBeyond() throws {
        let bomb = GzipBomb.zeros(pieces: 80_000)
        #expect(bomb.count < 200_000)
        try Setup.run(script: { _ in [.send(gzipHead(bomb.count)), .sendBytes(bomb)] }) { setup in
            let answer = setup.client.result(try setup.request(acceptsGzip: true))
            guard case .failure(.bodyTooLarge) = answer else {
                Issue.record("\(answer)")
                return
            }
        }
    }

    @Test("Headers over the limit end the response, in many lines or in one", arguments: [2_000, 150_000])
    func headers(lineBytes: Int) throws {
        let line = "X-Filler: \(body(lineBytes))\r\n"
        let response = "HTTP/1.1 200 OK\r\n" + String(repeating: line, count: 150_000 / lineBytes)
        try Setup.run(script: { _ in [.send(response)] }) { setup in
            let error = try setup.failure()
            #expect(error == .headersTooLarge)
            setup.server.closedConnections.reaches(1)
        }
    }

    private func gzipHead(_ length: Int) -> String {
        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(length)\r\n\r\n"
    }

    private func body(_ count: Int) -> String { String(repeating: "b", count: count) }
}

/// A gzip stream of zeros without its trailer; nobody reads that far.
enum GzipBomb {
    /// Each piece is 13 bits and becomes 258 bytes: a match of that length, one byte back (RFC 1951, 3.2.6).
    static func zeros(pieces: Int) -> [UInt8] {
        var bytes: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]
        var pending: (value: UInt8, count: Int) = (0, 0)
        func write(_ bits: [UInt8]) {
            for bit in bits {
                pending.value |= bit << pending.count
                pending.count += 1
                if pending.count == 8 {
                    bytes.append(pending.value)
                    pending = (0, 0)
                }
            }
        }
        write([1, 1, 0])
        write([0, 0, 1, 1, 0, 0, 0, 0])
        for _ in 0..<pieces {
            write([1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0])
        }
        write([0, 0, 0, 0, 0, 0, 0])
        bytes.append(pending.value)
        return bytes
    }
}
