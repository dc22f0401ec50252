/// How a transport connects, waits and gives up. Checked when the transport is made.
public struct HTTPTransportConfiguration: Sendable {
    /// What is offered to servers.
    public enum HTTPVersion: Sendable, Hashable {
        /// One request at a time on each connection, connections kept open: the default, and the cheapest per request.
        case http1_1
        /// Many requests on a connection where the server agrees. With libcurl 7.88 some requests fail with
        /// ``HTTPTransportError/http2Stream(_:)``: up to one in a hundred where a server answers before it has read
        /// the whole body.
        case http2
    }

    /// Requests in flight at most, hence open connections at most; 1 ... 100,000. Default 1000.
    ///
    /// Each takes a descriptor and, with HTTP/1.1, about 100 KB; `ulimit -n` has to leave room for them.
    public var maxConnections = 1000
    /// Requests that wait for one in flight to end, first come first served; 0 ... 1,000,000. Default 10,000.
    ///
    /// Time limits start when the wait is over. Beyond it: ``HTTPTransportError/tooManyWaiting``.
    public var maxWaiting = 10_000
    /// Size of a response's body after decompression, bytes; 1 ... 1 GiB. Default 1 MiB.
    public var maxResponseBytes = 1_048_576
    /// Size of all header sections of a response, bytes; 1 ... 256 KiB. Default 64 KiB.
    public var maxHeaderBytes = 65_536
    /// For looking up the name, TCP and TLS together; 1 ms ... 1 h. Default 3 s.
    public var connectTimeout = Duration.seconds(3)
    /// For the whole exchange, connecting included; 1 ms ... 1 h. Default 20 s. A request can set its own.
    public var totalTimeout = Duration.seconds(20)
    /// An exchange slower than this for ``minimumSpeedWindow`` ends, bytes per second, both directions together;
    /// 0 (never) ... 1 GiB. Default 16. Waiting for the response's first byte counts as slow.
    public var minimumBytesPerSecond = 16
    /// Whole seconds, 1 s ... 1 h. Default 12 s. Has to be longer than servers take to answer.
    public var minimumSpeedWindow = Duration.seconds(12)
    /// A PEM file of the only authorities to trust; nil: the system's.
    public var caFile: String?
    /// Whether `http` is spoken, too, with hosts that are this one: `localhost`, `127.0.0.0/8` and `::1`. Default false.
    public var plainLoopback = false
    /// Default HTTP/1.1.
    public var httpVersion = HTTPVersion.http1_1
    /// The `User-Agent` header; printable ASCII, 1-128 bytes. Default `grantor`.
    public var userAgent = "grantor"
    /// A connection idle for longer is not used again; whole seconds, 1 s ... 24 h. Default 60 s.
    public var maxIdleTime = Duration.seconds(60)
    /// A connection older than this is not used again, so that changes of address are noticed; whole seconds,
    /// 1 s ... 24 h. Default 10 min.
    public var maxConnectionAge = Duration.seconds(600)
    /// How long a looked-up address is kept; whole seconds, 0 ... 24 h. Default 60 s.
    public var dnsCacheTime = Duration.seconds(60)

    /// Most connections that libcurl has to look through for a request (``ConnectionGroups``); at least 1. Each group keeps the
    /// trusted authorities by itself, half a megabyte of the system's.
    var connectionsPerGroup = 250

    /// The defaults.
    public init() {}

    /// Whether requests may go to a URL.
    ///
    /// - Throws: ``HTTPTransportError/invalidURL`` or ``HTTPTransportError/notHTTPS``.
    public func check(url: String) throws(HTTPTransportError) {
        guard url.utf8.count <= HTTPRequest.maxURLBytes else { throw .invalidURL }
        try EndpointURL.check(url, plainLoopback: plainLoopback)
    }
}
