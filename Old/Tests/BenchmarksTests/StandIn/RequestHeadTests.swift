import Testing

@testable import grantor_bench

@Suite("Heads of requests to the stand-in")
struct RequestHeadTests {
    private static let head =
        "POST /verifyReceipt HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 123\r\nAccept: */*\r\n\r\n"

    @Test("A head tells where it ends and how long the body is")
    func complete() throws {
        let head = try #require(RequestHead(Array((Self.head + "{}").utf8)))
        #expect(head.length == Self.head.utf8.count)
        #expect(head.bodyLength == 123)
    }

    @Test("Nothing is told of a head that is not complete", arguments: [0, 1, 30, 80])
    func partial(count: Int) {
        #expect(RequestHead(Array(Self.head.utf8.prefix(count))) == nil)
    }

    @Test("Names are read whatever their case, and other fields count for nothing")
    func names() throws {
        let text = "POST / HTTP/1.1\r\nx-content-length: 9\r\ncontent-LENGTH:7\r\ncontent-lengthy: 8\r\n\r\n"
        let head = try #require(RequestHead(Array(text.utf8)))
        #expect(head.bodyLength == 7)
    }

    @Test("Without a length there is no body")
    func noBody() throws {
        let head = try #require(RequestHead(Array("GET / HTTP/1.1\r\n\r\n".utf8)))
        #expect(head.bodyLength == 0)
    }

    @Test("A head beyond the limit is not looked for")
    func tooLong() {
        let text = "POST / HTTP/1.1\r\nx: " + String(repeating: "y", count: RequestHead.limit) + "\r\n\r\n"
        #expect(RequestHead(Array(text.utf8)) == nil)
    }
}
