import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

/// One HTTPS connection that verifies the server's certificate, and its address, against a CA file.
final class Client: Sendable {
    struct Answer: Sendable {
        var code: Int
        var headers: HTTPHeaders
        var body: [UInt8] = []

        var status: Int? { (try? members(body))?["status"] as? Int }
        var errorCode: Int? { (try? members(body))?["errorCode"] as? Int }
        /// The payload of `signedTransactionInfo`.
        var transaction: [String: Any]? {
            (try? members(body))?["signedTransactionInfo"].flatMap { $0 as? String }
                .flatMap { try? SignedData($0) }?.payload
        }
    }

    /// The connection ended before an answer was whole.
    struct BrokenOff: Error {
        var received: Answer?
        var isReset: Bool
    }

    private let channel: any Channel

    static func connect(to url: URL, caFile: URL) async throws -> Client {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.trustRoots = .file(caFile.path)
        let tls = try NIOSSLContext(configuration: configuration)
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    try pipeline.addHandler(NIOSSLClientHandler(context: tls, serverHostname: nil))
                    try pipeline.addHTTPClientHandlers()
                    try pipeline.addHandler(AnswerCollector())
                }
            }
            .connect(host: "127.0.0.1", port: url.port ?? 0).get()
        return Client(channel: channel)
    }

    private init(channel: any Channel) {
        self.channel = channel
    }

    func send(
        _ method: HTTPMethod = .POST, _ path: String = "/verifyReceipt", _ body: String = "",
        authorization: String? = nil
    ) async throws -> Answer {
        let answer = channel.eventLoop.makePromise(of: Answer.self)
        let exchange = Exchange(
            method: method, path: path, authorization: authorization, body: Array(body.utf8), answer: answer)
        // A channel that is gone has no collector left to fail the answer.
        channel.writeAndFlush(exchange).whenFailure { answer.fail($0) }
        return try await answer.futureResult.get()
    }

    func verify(_ receipt: String) async throws -> Answer {
        try await send(.POST, "/verifyReceipt", "{\"receipt-data\":\"\(receipt)\"}")
    }

    func close() async {
        try? await channel.close()
    }
}

private struct Exchange: Sendable {
    let method: HTTPMethod
    let path: String
    let authorization: String?
    let body: [UInt8]
    let answer: EventLoopPromise<Client.Answer>
}

private final class AnswerCollector: ChannelDuplexHandler {
    typealias InboundIn = HTTPClientResponsePart
    typealias OutboundIn = Exchange
    typealias OutboundOut = HTTPClientRequestPart

    private var waiting: EventLoopPromise<Client.Answer>?
    private var answer: Client.Answer?
    private var isReset = false

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        let exchange = unwrapOutboundIn(data)
        guard context.channel.isActive else {
            return exchange.answer.fail(Client.BrokenOff(received: nil, isReset: isReset))
        }
        waiting = exchange.answer
        var headers: HTTPHeaders = ["Host": "127.0.0.1", "Content-Length": String(exchange.body.count)]
        if let authorization = exchange.authorization { headers.add(name: "Authorization", value: authorization) }
        let head = HTTPRequestHead(version: .http1_1, method: exchange.method, uri: exchange.path, headers: headers)
        context.write(wrapOutboundOut(.head(head)), promise: nil)
        context.write(
            wrapOutboundOut(.body(.byteBuffer(context.channel.allocator.buffer(bytes: exchange.body)))), promise: nil)
        context.write(wrapOutboundOut(.end(nil)), promise: promise)
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch unwrapInboundIn(data) {
        case .head(let head): answer = Client.Answer(code: Int(head.status.code), headers: head.headers)
        case .body(let part): answer?.body.append(contentsOf: part.readableBytesView)
        case .end:
            if let answer { waiting?.succeed(answer) }
            waiting = nil
            answer = nil
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        waiting?.fail(Client.BrokenOff(received: answer, isReset: isReset))
        waiting = nil
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        isReset = isReset || (error as? IOError)?.errnoCode == ECONNRESET
        context.close(promise: nil)
    }
}
