internal import Threading

/// Answers one request later, from any thread.
///
/// The first answer counts; further ones, and those to a client that went away, are dropped.
public struct Responder: Sendable {
    let answers: Mailbox<ServerMessage>
    let token: UInt64
    let serial: UInt64

    /// Hands the answer to the server's thread.
    ///
    /// - Returns: false if the server has stopped.
    @discardableResult
    public func answer(_ answer: Answer) -> Bool {
        answers.post(.answer(token: token, serial: serial, answer))
    }
}

/// What other threads tell the server's thread.
enum ServerMessage: Sendable {
    case answer(token: UInt64, serial: UInt64, Answer)
    case stop
}
