/// How a client connects, waits and gives up. Checked when the client is made.
public struct HTTPClientConfiguration: Sendable {
    /// Calls in flight at most, hence open connections at most; 1 to 100,000. Default 1000.
    ///
    /// Each takes a descriptor and about 100 KB; `ulimit -n` has to leave room for them.
    public var maxInFlight = 1000
    /// Calls that wait for one in flight to end, first come first served; 0 to 1,000,000. Default 10,000.
    ///
    /// Time limits start when the wait is over. Beyond it: ``HTTPFailure/queueFull``.
    public var maxQueued = 10_000
    /// Size of a response's body after decompression, bytes; 1 to 1 GiB. Default 1 MiB.
    public var maxResponseBytes = 1_048_576
    /// Size of all header sections of a response, bytes; 1 to 256 KiB. Default 64 KiB.
    public var maxHeaderBytes = 65_536
    /// For looking up the name, TCP, a proxy's tunnel and TLS together; 1 ms to 1 h. Default 3 s.
    public var connectTimeout = Duration.seconds(3)
    /// For the whole exchange, connecting included; 1 ms to 1 h. Default 20 s. A call can set its own.
    public var totalTimeout = Duration.seconds(20)
    /// A PEM file of the only authorities to trust; nil: the system's.
    public var caFile: String?
    /// The `User-Agent` header; printable ASCII, 1 to 128 bytes. Default `grantor`.
    public var userAgent = "grantor"
    /// A connection idle for longer is not used again; whole seconds, 1 s to 24 h. Default 60 s.
    public var maxIdleTime = Duration.seconds(60)
    /// A connection older than this is not used again, so that changes of address are noticed; whole seconds, 1 s to
    /// 24 h. Default 10 min. Each has a lifetime of its own between half of it and all of it, drawn when it is opened:
    /// else a thousand that were opened together are opened anew together, at 600 to 980 us each.
    public var maxConnectionAge = Duration.seconds(600)
    /// How long a looked-up address is kept; whole seconds, 0 to 24 h. Default 60 s.
    public var dnsCacheTime = Duration.seconds(60)

    /// Most connections of one multi handle (``MultiHandlePool``); at least 1. Each handle keeps the trusted
    /// authorities by itself, half a megabyte of the system's.
    var connectionsPerHandle = 250

    /// The defaults.
    public init() {}
}
