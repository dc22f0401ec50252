import NIOCore

/// The connections through a proxy, and how they are treated. Of one event loop.
final class ProxyLinks {
    private(set) var mode = FaultProxy.Mode.passing
    private var links: [ObjectIdentifier: ProxyLink] = [:]

    func add(_ link: ProxyLink) {
        links[ObjectIdentifier(link)] = link
        // What was accepted before the mode changed is not an exception to it.
        if mode == .refusing { link.reset() }
    }

    func remove(_ link: ProxyLink) {
        links[ObjectIdentifier(link)] = nil
    }

    func set(_ mode: FaultProxy.Mode) {
        self.mode = mode
        switch mode {
        case .passing: for link in links.values { link.goOn() }
        case .refusing: cut()
        case .stalled, .swallowing: break
        }
    }

    func cut() {
        for link in links.values { link.reset() }
    }
}

/// Two connections that are one to those at their ends. Of one event loop.
final class ProxyLink {
    private let client: any Channel
    private let server: any Channel
    private let links: ProxyLinks
    /// At most one piece per direction: nothing is read until it was passed on.
    private var held: [(from: any Channel, to: any Channel, bytes: ByteBuffer)] = []
    private var lostBytes = false

    init(client: any Channel, server: any Channel, links: ProxyLinks) {
        self.client = client
        self.server = server
        self.links = links
    }

    func received(_ bytes: ByteBuffer, from: any Channel, to: any Channel) {
        switch links.mode {
        case .passing where lostBytes: reset()
        case .passing: pass(bytes, from: from, to: to)
        case .stalled: held.append((from, to, bytes))
        case .swallowing:
            lostBytes = true
            from.read()
        case .refusing: reset()
        }
    }

    /// One side ended. The other learns of it, unless nothing gets through.
    func ended(_ side: any Channel) {
        guard links.mode != .stalled, links.mode != .swallowing else {
            lostBytes = true
            return
        }
        links.remove(self)
        (side === client ? server : client).close(promise: nil)
    }

    /// Nothing hinders it any more.
    func goOn() {
        guard !lostBytes else { return reset() }
        let pieces = held
        held = []
        for piece in pieces { pass(piece.bytes, from: piece.from, to: piece.to) }
    }

    func reset() {
        links.remove(self)
        grantor_chaos.reset(client)
        grantor_chaos.reset(server)
    }

    private func pass(_ bytes: ByteBuffer, from: any Channel, to: any Channel) {
        to.writeAndFlush(bytes).assumeIsolated().whenSuccess { from.read() }
    }
}

/// Hands what one side sends to the link.
final class ProxyRelay: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let link: ProxyLink
    private let source: any Channel
    private let target: any Channel

    init(_ link: ProxyLink, from source: any Channel, to target: any Channel) {
        self.link = link
        self.source = source
        self.target = target
    }

    func channelActive(context: ChannelHandlerContext) {
        context.read()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        link.received(unwrapInboundIn(data), from: source, to: target)
    }

    func channelInactive(context: ChannelHandlerContext) {
        link.ended(source)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // A reset of one side ends the link.
        context.close(promise: nil)
    }
}
