import HTTPTypes
import NIOCore
import NIOEmbedded
import NIOHTTPTypes
import Testing

@testable import Worker

@Suite("One answer for each connection")
struct OneAnswerTests {
    private func connected() throws -> EmbeddedChannel {
        let channel = EmbeddedChannel(handler: OneAnswer())
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        return channel
    }

    private var head: HTTPResponsePart { .head(HTTPResponse(status: .ok)) }

    @Test("It says that the connection ends, and ends it")
    func last() throws {
        let channel = try connected()
        try channel.writeOutbound(head)
        try channel.writeOutbound(HTTPResponsePart.end(nil))
        guard case .head(let sent)? = try channel.readOutbound(as: HTTPResponsePart.self) else {
            Issue.record("no head was sent")
            return
        }
        #expect(sent.headerFields[.connection] == "close")
        channel.embeddedEventLoop.advanceTime(by: OneAnswer.patience)
        #expect(!channel.isActive)
    }

    @Test("What is read slowly is not cut off: the time runs from the moment at which all of it was written")
    func slowReader() throws {
        let channel = try connected()
        // Not flushed, as for a client whose window is full.
        channel.write(head, promise: nil)
        channel.write(HTTPResponsePart.body(ByteBuffer(string: "metrics")), promise: nil)
        channel.write(HTTPResponsePart.end(nil), promise: nil)
        channel.embeddedEventLoop.advanceTime(by: OneAnswer.patience * 5)
        #expect(channel.isActive)
        channel.flush()
        channel.embeddedEventLoop.advanceTime(by: OneAnswer.patience)
        #expect(!channel.isActive)
    }

    @Test("A second answer is not sent")
    func second() throws {
        let channel = try connected()
        channel.write(HTTPResponsePart.end(nil), promise: nil)
        #expect(throws: ChannelError.outputClosed) { try channel.writeAndFlush(head).wait() }
    }
}
