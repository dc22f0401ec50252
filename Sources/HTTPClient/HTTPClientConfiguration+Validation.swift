import Glibc

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
