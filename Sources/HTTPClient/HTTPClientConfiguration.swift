/// How a client connects, waits and gives up.
public struct HTTPClientConfiguration: Sendable {
    /// Calls in flight at most, hence open connections at most; at least 1. Default 1000.
    ///
    /// Each takes a descriptor and about 100 KB; `ulimit -n` has to leave room for them.
    public var maxInFlight = 1000
    /// Size of a response's body after decompression, bytes. Default 1 MiB.
    public var maxResponseBytes = 1_048_576
    /// For looking up the name, TCP, a proxy's tunnel and TLS together. Default 3 s.
    public var connectTimeout = Duration.seconds(3)
    /// For the whole exchange, connecting included. Default 20 s.
    public var totalTimeout = Duration.seconds(20)
    /// A PEM file of the only authorities to trust; nil: the system's.
    public var caFile: String?

    /// Calls that wait for one in flight to end, first come first served. Time limits start when the wait is over.
    var maxQueued = 10_000
    /// A connection idle for longer is not used again; whole seconds.
    var maxIdleTime = Duration.seconds(60)
    /// A connection older than this is not used again, so that changes of address are noticed; whole seconds. Each
    /// connection draws a lifetime between half of this and all of it when it is opened. Otherwise a thousand that were
    /// opened together would be replaced together, at 600 to 980 us each.
    var maxConnectionAge = Duration.seconds(600)
    /// Most connections of one multi handle (``MultiHandlePool``); at least 1. Each handle keeps the trusted
    /// authorities by itself, half a megabyte of the system's.
    var connectionsPerHandle = 250

    /// Size of all header sections of a response.
    static let maxHeaderBytes = 65_536

    public init() {}
}

extension Duration {
    /// Rounded up, so that a limit above zero never becomes libcurl's zero, which means none.
    var wholeMilliseconds: Int { Int((self / .milliseconds(1)).rounded(.up)) }
    var wholeSeconds: Int { Int(components.seconds) }
}
