import Foundation
import NIOCore
import NIOHTTP1

/// Reads requests from one connection and performs what is decided about each. Delays are timers of the event loop.
final class ConnectionHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    /// Told when a request was read and when it ended, answered or not.
    struct Observer: Sendable {
        var requestStarted: @Sendable () -> Void = {}
        var requestEnded: @Sendable () -> Void = {}
    }

    private let bodyLimit: Int
    private let observer: Observer
    private let decide: @Sendable (Request) -> Performance
    private var head: HTTPRequestHead?
    private var body = ByteBuffer()
    private var isTooLarge = false
    private var isInFlight = false
    private var timer: Scheduled<Void>?

    init(bodyLimit: Int, observer: Observer, decide: @escaping @Sendable (Request) -> Performance) {
        self.bodyLimit = bodyLimit
        self.observer = observer
        self.decide = decide
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head):
            // Nobody who speaks to Apple sends a request before the last one is answered.
            guard !isInFlight else { return context.close(promise: nil) }
            self.head = head
            body.clear()
            isTooLarge = false
            if head.headers[canonicalForm: "Expect"].contains("100-continue") {
                // libcurl holds back bodies beyond a mebibyte for a second unless it is asked for them.
                let goOn = HTTPResponseHead(version: .http1_1, status: .continue)
                context.writeAndFlush(wrapOutboundOut(.head(goOn)), promise: nil)
            }
        case .body(var part):
            guard !isInFlight else { return }
            isTooLarge = isTooLarge || body.readableBytes + part.readableBytes > bodyLimit
            if !isTooLarge { body.writeBuffer(&part) }
        case .end:
            guard let head, !isInFlight else { return }
            begin()
            let parts = head.uri.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
            let authorization = head.headers["Authorization"]
            let content = isTooLarge ? Data() : Data(body.readableBytesView)
            body = ByteBuffer()
            let request = Request(
                method: head.method.rawValue, path: String(parts[0]), query: parts.count > 1 ? String(parts[1]) : nil,
                authorization: authorization.count == 1 ? authorization[0] : nil, body: content,
                isTooLarge: isTooLarge)
            let performance = decide(request)
            let keepsAlive = head.isKeepAlive && !isTooLarge
            after(milliseconds: performance.delayMilliseconds, on: context) { context in
                self.perform(performance.act, keepsAlive: keepsAlive, on: context)
            }
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        timer?.cancel()
        end()
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A client that broke off, or that does not speak TLS or HTTP: there is nobody to answer.
        context.close(promise: nil)
    }

    private func perform(_ act: Performance.Act, keepsAlive: Bool, on context: ChannelHandlerContext) {
        switch act {
        case .reply(let reply):
            writeHead(of: reply, keepsAlive: keepsAlive, on: context)
            write(reply.body[...], on: context)
            finish(keepsAlive: keepsAlive, on: context)
        case .cutOff(let reply):
            writeHead(of: reply, keepsAlive: true, on: context)
            write(reply.body.prefix(reply.body.count / 2), on: context)
            context.flush()
            context.close(promise: nil)
        case .drip(let reply, let bytes, let milliseconds):
            writeHead(of: reply, keepsAlive: keepsAlive, on: context)
            drip(reply.body[...], bytes, milliseconds, keepsAlive: keepsAlive, on: context)
        case .reset:
            context.triggerUserOutboundEvent(AbruptClose.reset, promise: nil)
        case .close:
            context.close(promise: nil)
        case .hang:
            after(milliseconds: Int(Fault.hangLimit.components.seconds) * 1000, on: context) { $0.close(promise: nil) }
        }
    }

    private func drip(
        _ rest: ArraySlice<UInt8>, _ bytes: Int, _ milliseconds: Int, keepsAlive: Bool,
        on context: ChannelHandlerContext
    ) {
        write(rest.prefix(bytes), on: context)
        context.flush()
        let rest = rest.dropFirst(bytes)
        guard !rest.isEmpty else { return finish(keepsAlive: keepsAlive, on: context) }
        after(milliseconds: milliseconds, on: context) { context in
            self.drip(rest, bytes, milliseconds, keepsAlive: keepsAlive, on: context)
        }
    }

    private func writeHead(of reply: HTTPReply, keepsAlive: Bool, on context: ChannelHandlerContext) {
        var headers = HTTPHeaders()
        headers.reserveCapacity(3 + reply.headers.count)
        headers.add(name: "Content-Type", value: reply.contentType)
        headers.add(name: "Content-Length", value: String(reply.body.count))
        if !keepsAlive { headers.add(name: "Connection", value: "close") }
        for (name, value) in reply.headers { headers.add(name: name, value: value) }
        let head = HTTPResponseHead(version: .http1_1, status: .init(statusCode: reply.code), headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
    }

    private func write(_ bytes: ArraySlice<UInt8>, on context: ChannelHandlerContext) {
        guard !bytes.isEmpty, head?.method != .HEAD else { return }
        context.write(wrapOutboundOut(.body(.byteBuffer(context.channel.allocator.buffer(bytes: bytes)))), promise: nil)
    }

    private func finish(keepsAlive: Bool, on context: ChannelHandlerContext) {
        context.writeAndFlush(wrapOutboundOut(.end(nil)), promise: nil)
        end()
        if !keepsAlive { context.close(promise: nil) }
    }

    private func begin() {
        isInFlight = true
        observer.requestStarted()
    }

    private func end() {
        guard isInFlight else { return }
        isInFlight = false
        observer.requestEnded()
    }

    private func after(
        milliseconds: Int, on context: ChannelHandlerContext, _ work: @escaping (ChannelHandlerContext) -> Void
    ) {
        guard milliseconds > 0 else { return work(context) }
        let bound = NIOLoopBound((context, work), eventLoop: context.eventLoop)
        timer = context.eventLoop.scheduleTask(in: .milliseconds(Int64(milliseconds))) {
            let (context, work) = bound.value
            work(context)
        }
    }
}
