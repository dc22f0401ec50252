import Glibc

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
    /// 24 h. Default 10 min. Each connection draws a lifetime between half of this and all of it when it is opened.
    /// Otherwise a thousand that were opened together would be replaced together, at 600 to 980 us each.
    public var maxConnectionAge = Duration.seconds(600)
    /// How long a looked-up address is kept; whole seconds, 0 to 24 h. Default 60 s.
    public var dnsCacheTime = Duration.seconds(60)

    /// Most connections of one multi handle (``MultiHandlePool``); at least 1. Each handle keeps the trusted
    /// authorities by itself, half a megabyte of the system's.
    var connectionsPerHandle = 250

    public init() {}
}

extension HTTPClientConfiguration {
    /// Within libcurl's milliseconds, and beyond what anybody waits for.
    static let timeoutRange = Duration.milliseconds(1)...Duration.seconds(3600)
    private static let day = Duration.seconds(86_400)

    /// - Throws: ``HTTPClientError/invalidConfiguration(field:reason:)`` for the first field that is out of range.
    func validate() throws(HTTPClientError) {
        try Self.check("maxInFlight", maxInFlight, in: 1...100_000)
        try Self.check("maxQueued", maxQueued, in: 0...1_000_000)
        try Self.check("maxResponseBytes", maxResponseBytes, in: 1...1_073_741_824)
        try Self.check("maxHeaderBytes", maxHeaderBytes, in: 1...262_144)
        try Self.check("connectTimeout", connectTimeout, in: Self.timeoutRange)
        try Self.check("totalTimeout", totalTimeout, in: Self.timeoutRange)
        try Self.checkSeconds("maxIdleTime", maxIdleTime, in: .seconds(1)...Self.day)
        try Self.checkSeconds("maxConnectionAge", maxConnectionAge, in: .seconds(1)...Self.day)
        try Self.checkSeconds("dnsCacheTime", dnsCacheTime, in: .zero...Self.day)
        guard 1...128 ~= userAgent.utf8.count, userAgent.utf8.allSatisfy({ 0x20...0x7E ~= $0 }) else {
            throw .invalidConfiguration(field: "userAgent", reason: "not 1-128 bytes of printable ASCII")
        }
        if let caFile, access(caFile, R_OK) != 0 {
            throw .invalidConfiguration(field: "caFile", reason: "cannot be read (errno \(errno))")
        }
    }

    private static func check<Value: Comparable>(
        _ field: String, _ value: Value, in range: ClosedRange<Value>
    ) throws(HTTPClientError) {
        guard range ~= value else {
            throw .invalidConfiguration(
                field: field, reason: "\(value) is outside \(range.lowerBound) ... \(range.upperBound)")
        }
    }

    /// libcurl counts these in seconds; rounding would quietly be another value than the one asked for.
    private static func checkSeconds(
        _ field: String, _ value: Duration, in range: ClosedRange<Duration>
    ) throws(HTTPClientError) {
        try check(field, value, in: range)
        guard value.components.attoseconds == 0 else {
            throw .invalidConfiguration(field: field, reason: "\(value) is not whole seconds")
        }
    }
}

extension Duration {
    /// Rounded up, so that a limit above zero never becomes libcurl's zero, which means none.
    var wholeMilliseconds: Int { Int((self / .milliseconds(1)).rounded(.up)) }

    var wholeSeconds: Int { Int(components.seconds) }
}
