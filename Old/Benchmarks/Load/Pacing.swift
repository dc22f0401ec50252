/// Which submissions are due, at a rate that stays the same however late anybody asks.
struct Pacing {
    let perSecond: Double
    /// How many there are in all.
    let total: Int
    private var begun = 0

    init(perSecond: Double, total: Int) {
        self.perSecond = perSecond
        self.total = total
    }

    var isOver: Bool { begun >= total }

    /// Those that are due by now and were not before; the first one at once.
    mutating func due(after elapsed: Duration) -> Range<Int> {
        let due = Int(elapsed / .seconds(1) * perSecond) + 1
        let range = begun..<max(begun, min(due, total))
        begun = range.upperBound
        return range
    }
}
