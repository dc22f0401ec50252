internal import Glibc

/// How long an answer takes.
///
/// In JSON: `{"fixed": {"milliseconds": 250}}`, `{"uniform": {"from": 100, "through": 400}}`,
/// `{"lognormal": {"median": 250, "p99": 2000, "limit": 20000}}`; all in milliseconds.
public enum Latency: Hashable, Sendable, Codable {
    case none
    case fixed(milliseconds: Int)
    case uniform(from: Int, through: Int)
    /// A long tail: half of the answers take longer than the median, and one in a hundred longer than `p99`. None takes
    /// longer than the limit.
    case lognormal(median: Double, p99: Double, limit: Double)

    /// Draws how long one answer takes, in whole milliseconds, never below zero.
    func milliseconds(using generator: inout some RandomNumberGenerator) -> Int {
        switch self {
        case .none: return 0
        case .fixed(let milliseconds): return max(0, milliseconds)
        case .uniform(let from, let through):
            return from <= through ? max(0, Int.random(in: from...through, using: &generator)) : max(0, from)
        case .lognormal(let median, let p99, let limit):
            guard median > 0, p99 >= median, limit > 0, limit.isFinite else { return 0 }
            // 2.326 is the standard normal distribution's 99th percentile.
            let sigma = log(p99 / median) / 2.326_347_874
            return Int(min(median * exp(sigma * Self.normal(using: &generator)), limit, 86_400_000))
        }
    }

    /// A standard normal variate (Box and Muller, 1958).
    private static func normal(using generator: inout some RandomNumberGenerator) -> Double {
        let radius = (-2 * log(Double.random(in: Double.leastNonzeroMagnitude...1, using: &generator))).squareRoot()
        return radius * cos(2 * .pi * Double.random(in: 0..<1, using: &generator))
    }
}
