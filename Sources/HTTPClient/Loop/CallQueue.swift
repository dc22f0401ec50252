/// Which calls run and which wait, first come first served. Never more than `maxInFlight` run, never more than
/// `maxQueued` wait for a place beside those for which there is one.
struct CallQueue<Call> {
    private let maxInFlight: Int
    private let maxQueued: Int
    private var calls: [Call] = []
    /// Calls before it were taken.
    private var first = 0
    /// Calls that have a place.
    private(set) var inFlight = 0

    init(maxInFlight: Int, maxQueued: Int) {
        self.maxInFlight = maxInFlight
        self.maxQueued = maxQueued
    }

    /// Calls that wait.
    var count: Int { calls.count - first }

    /// Whether ``takeNext()`` has a call.
    var hasNext: Bool { count > 0 && inFlight < maxInFlight }

    /// Adds a call at the end; false if there is no room for it.
    mutating func append(_ call: Call) -> Bool {
        guard count < maxQueued + maxInFlight - inFlight else { return false }
        calls.append(call)
        return true
    }

    /// The first call, if there is a place for it, which it then has.
    mutating func takeNext() -> Call? {
        guard hasNext else { return nil }
        let call = calls[first]
        first += 1
        inFlight += 1
        // Else the calls that were taken would stay alive, and the array would grow for ever.
        if first == calls.count || first >= 256 && first * 2 >= calls.count {
            calls.removeFirst(first)
            first = 0
        }
        return call
    }

    /// A call that had a place is over.
    mutating func release() { inFlight -= 1 }

    /// Takes all that wait.
    mutating func removeAll() -> [Call] {
        defer {
            calls = []
            first = 0
        }
        return Array(calls[first...])
    }
}
