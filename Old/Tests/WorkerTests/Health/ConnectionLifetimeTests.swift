import NIOCore
import NIOEmbedded
import Testing

@testable import Worker

@Suite("A connection's lifetime")
struct ConnectionLifetimeTests {
    @Test("It ends when its time is over, though bytes come all the time")
    func dripping() throws {
        let channel = EmbeddedChannel(handler: ConnectionLifetime(.seconds(10)))
        try channel.connect(to: SocketAddress(ipAddress: "127.0.0.1", port: 1)).wait()
        for _ in 0..<9 {
            channel.embeddedEventLoop.advanceTime(by: .seconds(1))
            try channel.writeInbound(ByteBuffer(string: "G"))
        }
        #expect(channel.isActive)
        channel.embeddedEventLoop.advanceTime(by: .seconds(1))
        #expect(!channel.isActive)
        #expect(try channel.readInbound(as: ByteBuffer.self) == ByteBuffer(string: "G"))
    }
}
