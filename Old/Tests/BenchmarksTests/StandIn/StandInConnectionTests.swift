import NIOCore
import NIOEmbedded
import Testing

@testable import grantor_bench

@Suite("A connection to the stand-in")
struct StandInConnectionTests {
    private static func request(_ number: Int) -> ByteBuffer {
        var base64 = Array(repeating: UInt8(ascii: "A"), count: 1000)
        ReceiptNumber.write(ReceiptNumber.first + number, over: &base64)
        let body = #"{"receipt-data":"\#(String(decoding: base64, as: UTF8.self))","exclude-old-transactions":false}"#
        return ByteBuffer(
            string: "POST /verifyReceipt HTTP/1.1\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
    }

    private static func connect(_ line: DelayLine) throws -> EmbeddedChannel {
        let connection = StandInConnection(answer: ReceiptAnswer(bundleID: "com.example.game"), line: line)
        return EmbeddedChannel(handler: connection)
    }

    private static func answer(_ channel: EmbeddedChannel) throws -> String? {
        try channel.readOutbound(as: ByteBuffer.self).map { String(buffer: $0) }
    }

    @Test("Each request is answered about its own purchase, one after the other")
    func keepsAlive() throws {
        let channel = try Self.connect(DelayLine(delay: .zero))
        for number in 1...3 {
            try channel.writeInbound(Self.request(number))
            let answer = try #require(try Self.answer(channel))
            #expect(answer.contains(#""transaction_id":"200000000000000\#(number)""#))
        }
        _ = try channel.finish()
    }

    @Test("A request that comes in parts is answered when it is whole")
    func parts() throws {
        let channel = try Self.connect(DelayLine(delay: .zero))
        var request = Self.request(7)
        while let part = request.readSlice(length: min(300, request.readableBytes)), part.readableBytes > 0 {
            #expect(try Self.answer(channel) == nil)
            try channel.writeInbound(part)
        }
        #expect(try Self.answer(channel)?.contains("2000000000000007") == true)
        _ = try channel.finish()
    }

    @Test("Answers wait for as long as Apple takes, each from its own request on")
    func delays() throws {
        let channel = try Self.connect(DelayLine(delay: .milliseconds(250)))
        try channel.writeInbound(Self.request(1))
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(100))
        try channel.writeInbound(Self.request(2))
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(149))
        #expect(try Self.answer(channel) == nil)
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(1))
        #expect(try Self.answer(channel)?.contains("2000000000000001") == true)
        #expect(try Self.answer(channel) == nil)
        channel.embeddedEventLoop.advanceTime(by: .milliseconds(100))
        #expect(try Self.answer(channel)?.contains("2000000000000002") == true)
        _ = try channel.finish()
    }

    @Test("A connection that is gone is answered no more")
    func gone() throws {
        let channel = try Self.connect(DelayLine(delay: .milliseconds(250)))
        try channel.writeInbound(Self.request(1))
        _ = try channel.finish()
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(try Self.answer(channel) == nil)
    }

    @Test("Whatever has no number is refused as Apple refuses it")
    func refused() throws {
        let channel = try Self.connect(DelayLine(delay: .zero))
        try channel.writeInbound(ByteBuffer(string: "POST / HTTP/1.1\r\ncontent-length: 2\r\n\r\n{}"))
        #expect(try Self.answer(channel)?.hasSuffix(#"{"status":21002}"#) == true)
        _ = try channel.finish()
    }
}
