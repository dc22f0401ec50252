import Contract
import Scheduling

/// Calls of one worker to one endpoint.
struct SeenCalls {
    /// Named by a 429, as the worker has heard it.
    var notBefore = Instant(nanoseconds: .min)
    /// The calls of the latest second.
    var latest: [Instant] = []
}

extension Witness {
    /// A worker has the answer that asks for fewer calls.
    func limited(_ worker: String, _ endpoint: Endpoint, until moment: Instant) {
        let key = CallerKey(worker: worker, endpoint: endpoint)
        calls[key, default: SeenCalls()].notBefore = max(calls[key]?.notBefore ?? moment, moment)
    }

    /// A worker calls an endpoint.
    /// - Parameter rate: calls a second that it may make; nil where there is no limit.
    func asks(_ worker: String, _ endpoint: Endpoint, _ rate: Double?, at now: Instant) {
        let key = CallerKey(worker: worker, endpoint: endpoint)
        if let seen = calls[key], now < seen.notBefore {
            fail(.limits, "\(worker) calls \(endpoint) \(seen.notBefore - now) before the moment that it named")
        }
        guard let rate, endpoint.service == .serverAPI else { return }
        var latest = calls[key, default: SeenCalls()].latest.filter { now - $0 < .seconds(1) }
        latest.append(now)
        calls[key, default: SeenCalls()].latest = latest
        // A second's worth may have been saved.
        if Double(latest.count) > 2 * max(1, rate) + 1 {
            fail(.limits, "\(worker) makes \(latest.count) calls a second to \(endpoint)")
        }
    }
}

struct CallerKey: Hashable {
    let worker: String
    let endpoint: Endpoint
}
