/// An HTTP answer before it is sent.
struct HTTPReply: Equatable, Sendable {
    var code = 200
    var contentType = "application/json"
    var headers: [String: String] = [:]
    var body: [UInt8] = []
}

/// What a connection does about one request.
struct Performance: Equatable, Sendable {
    /// How an answer leaves, if one does.
    enum Act: Equatable, Sendable {
        case reply(HTTPReply)
        /// The reply's headers and half of its body, then the end of the connection.
        case cutOff(HTTPReply)
        case drip(HTTPReply, bytes: Int, everyMilliseconds: Int)
        case reset
        case close
        case hang
    }

    var delayMilliseconds = 0
    var act: Act
}
