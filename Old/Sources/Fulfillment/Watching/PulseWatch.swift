/// Notices that something which has to show signs of life does not. Pure: signs in, a verdict out.
///
/// It counts ticks and not time: in a process that was stopped and goes on neither the signs nor the ticks have moved, and
/// nobody is taken for dead.
struct PulseWatch: Sendable {
    private struct Sign {
        var value: UInt64
        var missed = 0
    }

    private let limit: Int
    private var signs: [Sign] = []

    /// - Parameter limit: ticks without a sign that are one too many.
    init(limit: Int) { self.limit = limit }

    /// A tick has passed.
    ///
    /// - Parameter values: numbers that grow with each sign, in the same order each time.
    /// - Returns: whether all of them have grown within the limit.
    mutating func tick(_ values: [UInt64]) -> Bool {
        guard values.count == signs.count else {
            signs = values.map { Sign(value: $0) }
            return true
        }
        for (index, value) in values.enumerated() {
            signs[index].missed = value == signs[index].value ? signs[index].missed + 1 : 0
            signs[index].value = value
        }
        return signs.allSatisfy { $0.missed < limit }
    }
}
