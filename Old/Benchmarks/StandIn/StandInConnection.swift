import NIOCore

/// Answers requests of one connection, which wait for each other: below it is TLS, and no HTTP library.
final class StandInConnection: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let answer: ReceiptAnswer
    private let line: DelayLine
    private var context: ChannelHandlerContext?
    private var received = ByteBuffer()
    private var head: RequestHead?

    init(answer: ReceiptAnswer, line: DelayLine) {
        self.answer = answer
        self.line = line
    }

    func handlerAdded(context: ChannelHandlerContext) {
        self.context = context
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        self.context = nil
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var part = unwrapInboundIn(data)
        if received.readableBytes == 0 { received = part } else { received.writeBuffer(&part) }
        head = head ?? RequestHead(received.readableBytesView)
        guard let head else {
            if received.readableBytes > RequestHead.limit { context.close(promise: nil) }
            return
        }
        guard received.readableBytes >= head.length + head.bodyLength else { return }
        let number = ReceiptNumber.read(fromBody: received.readableBytesView)
        received = ByteBuffer()
        self.head = nil
        let allocator = context.channel.allocator
        line.hold(
            number.map { answer.response(about: $0, allocator) } ?? ReceiptAnswer.refusal(allocator), for: self,
            on: context.eventLoop)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A client that broke off: there is nobody to answer.
        context.close(promise: nil)
    }

    /// Sends an answer, if anybody still waits for it.
    func send(_ answer: ByteBuffer) {
        context?.writeAndFlush(wrapOutboundOut(answer), promise: nil)
    }
}
