/// One header field of a request.
public struct HeaderField: Hashable, Sendable {
    /// In lower case.
    public let name: String
    /// Without the white space around it.
    public let value: String
}

/// A request without its body.
public struct RequestHead: Hashable, Sendable {
    /// As it came: methods are case-sensitive.
    public let method: String
    /// The request's target up to a question mark, as it came: nothing is decoded or normalised. It begins with a slash.
    public let path: String
    /// The target behind the question mark; nil without one.
    public let query: String?
    /// In the order in which they came.
    public let fields: [HeaderField]
    /// Bytes of the body that follows.
    public let contentLength: Int
    /// Whether the client waits for `100 Continue` before it sends the body.
    public let expectsContinue: Bool
    /// Whether the client lets the connection be used again: HTTP/1.1 and no `Connection: close`.
    public let keepsAlive: Bool

    /// The value of a field; nil if it is missing or stands there several times.
    ///
    /// - Parameter name: in lower case.
    public subscript(_ name: String) -> String? {
        var found: String?
        for field in fields where field.name == name {
            guard found == nil else { return nil }
            found = field.value
        }
        return found
    }
}

/// A complete request.
public struct Request: Hashable, Sendable {
    public let head: RequestHead
    public let body: [UInt8]
}
