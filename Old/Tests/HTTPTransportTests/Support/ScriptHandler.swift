import Glibc
import NIOCore

/// Reads HTTP/1.1 requests as far as a test server must, and plays the script for each.
final class ScriptHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let script: @Sendable (ScriptedServer.Received) -> [ScriptedServer.Step]
    private let requests: Tally
    private let atOnce: HighWater
    private var unread: [UInt8] = []

    init(
        script: @escaping @Sendable (ScriptedServer.Received) -> [ScriptedServer.Step], requests: Tally,
        atOnce: HighWater
    ) {
        self.script = script
        self.requests = requests
        self.atOnce = atOnce
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        unread.append(contentsOf: unwrapInboundIn(data).readableBytesView)
        while let request = takeRequest() {
            atOnce.enter()
            play(script(request)[...], context)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Clients that break off are what these tests are about.
        context.close(promise: nil)
    }

    private func takeRequest() -> ScriptedServer.Received? {
        guard let end = unread.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        let head = String(decoding: unread[..<end.upperBound], as: UTF8.self)
        let length =
            head.split(separator: "\r\n").lazy.map { $0.lowercased() }
            .first { $0.hasPrefix("content-length:") }
            .flatMap { Int($0.dropFirst("content-length:".count).filter(\.isNumber)) } ?? 0
        guard unread.count >= end.upperBound + length else { return nil }
        let body = Array(unread[end.upperBound..<(end.upperBound + length)])
        unread.removeFirst(end.upperBound + length)
        return ScriptedServer.Received(number: requests.add(), head: head, body: body)
    }

    private func play(_ steps: ArraySlice<ScriptedServer.Step>, _ context: ChannelHandlerContext) {
        guard let step = steps.first else { return atOnce.leave() }
        let rest = steps.dropFirst()
        switch step {
        case .send(let text):
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
            play(rest, context)
        case .sendBytes(let bytes):
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: bytes)), promise: nil)
            play(rest, context)
        case .drip(let byte, let every):
            guard context.channel.isActive else { return }
            context.writeAndFlush(wrapOutboundOut(ByteBuffer(bytes: [byte])), promise: nil)
            context.eventLoop.assumeIsolated().scheduleTask(in: every) { self.play(steps, context) }
        case .pass(let gate):
            gate.arrive().hop(to: context.eventLoop).assumeIsolated().whenSuccess { self.play(rest, context) }
        case .finish:
            context.triggerUserOutboundEvent(AbruptCloser.Wish.finish, promise: nil)
        case .reset:
            context.triggerUserOutboundEvent(AbruptCloser.Wish.reset, promise: nil)
        }
    }
}

/// Ends a connection at once. It stands below TLS, which would wait for the client's consent to a close.
final class AbruptCloser: ChannelOutboundHandler {
    typealias OutboundIn = ByteBuffer

    enum Wish: Sendable {
        case finish
        case reset
    }

    func triggerUserOutboundEvent(context: ChannelHandlerContext, event: Any, promise: EventLoopPromise<Void>?) {
        guard let wish = event as? Wish else {
            context.triggerUserOutboundEvent(event, promise: promise)
            return
        }
        if case .reset = wish, let socket = context.channel as? any SocketOptionProvider {
            // Closing a socket that lingers for zero seconds sends RST.
            socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).assumeIsolated().whenFailure { _ in
                // The socket is gone already, and with it what was to be reset.
            }
        }
        context.close(promise: promise)
    }
}
