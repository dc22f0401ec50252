import Purchases

/// Whose clock leases and due times run by. Workers' clocks differ, so it is the server's; tests, which have no time to
/// wait, let it be theirs.
package enum LeaseClock: Hashable, Sendable {
    case server
    case caller

    /// The parameter for ``sql(_:)``: NULL where the server looks at its own clock.
    func moment(_ now: Timestamp) -> PostgresValue {
        switch self {
        case .server: .null
        case .caller: .time(now)
        }
    }

    /// SQL for the moment, in milliseconds.
    static func sql(_ parameter: String) -> String {
        "coalesce(\(parameter)::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)"
    }
}
