import NIOCore

/// Reads HTTP/1.1 requests as far as a test server must, and does what it is told for each.
final class InventoryHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    enum Step: Sendable {
        case send(String)
        case close
    }

    private let receive: @Sendable (_ headers: [String: String], _ body: [UInt8]) -> [Step]
    private var unread: [UInt8] = []

    init(receive: @escaping @Sendable (_ headers: [String: String], _ body: [UInt8]) -> [Step]) {
        self.receive = receive
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        unread.append(contentsOf: unwrapInboundIn(data).readableBytesView)
        while let (headers, body) = takeRequest() {
            for step in receive(headers, body) {
                switch step {
                case .send(let text):
                    context.writeAndFlush(wrapOutboundOut(ByteBuffer(string: text)), promise: nil)
                case .close: context.close(promise: nil)
                }
            }
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Workers that are killed break off.
        context.close(promise: nil)
    }

    private func takeRequest() -> (headers: [String: String], body: [UInt8])? {
        guard let end = unread.firstRange(of: Array("\r\n\r\n".utf8)) else { return nil }
        var headers: [String: String] = [:]
        for line in String(decoding: unread[..<end.lowerBound], as: UTF8.self).split(separator: "\r\n").dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { continue }
            let value = line[line.index(after: colon)...].drop { $0 == " " }
            headers[line[..<colon].lowercased()] = String(value)
        }
        let length = headers["content-length"].flatMap { Int($0) } ?? 0
        guard unread.count >= end.upperBound + length else { return nil }
        let body = Array(unread[end.upperBound..<(end.upperBound + length)])
        unread.removeFirst(end.upperBound + length)
        return (headers, body)
    }
}
