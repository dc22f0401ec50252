/// The way through `answers` by which old ones are deleted, step by step. Pure.
///
/// A wide look at a stretch comes first. Only where it finds old rows, they are deleted, from so few places at a time
/// that each transaction is short. If anything ends it between two steps, the next walk begins anew and finds the rest.
public struct PruneWalk: Hashable, Sendable {
    /// One call of ``LedgerOperator/prune(_:before:isTrial:)``.
    public struct Step: Hashable, Sendable {
        public let places: ClosedRange<Int64>
        /// Whether it looks, and deletes nothing.
        public let isTrial: Bool
    }

    /// Most places that one transaction deletes from.
    public static let mostAtOnce = 200

    private let first: Int64
    private let end: Int64
    private let isTrial: Bool
    private let width: Int64
    /// The last place that is done.
    private var done: Int64
    /// The end of a stretch that has rows to delete.
    private var found: Int64
    /// Answers that were deleted, or found by a trial.
    public private(set) var count = 0

    /// - Parameters:
    ///   - places: As ``LedgerOperator/places(of:from:to:)`` returns them: without their first one.
    ///   - isTrial: Whether it only looks.
    ///   - portion: Most places that one step deletes from, of ``mostAtOnce``.
    public init(_ places: ClosedRange<Int64>, isTrial: Bool, portion: Int = mostAtOnce) {
        self.isTrial = isTrial
        (first, end) = (places.lowerBound, places.upperBound)
        (done, found) = (first, first)
        width = Int64(max(1, min(portion, Self.mostAtOnce)))
    }

    /// The step that comes now; nil at the end.
    public var next: Step? {
        guard done < end else { return nil }
        let looks = isTrial || done >= found
        let last = looks ? min(end, done + DecidedTable.placesAtOnce) : min(found, done + width)
        return Step(places: (done + 1)...last, isTrial: looks)
    }

    /// The step that came has its result.
    public mutating func ended(_ rows: Int) {
        guard let step = next else { return }
        if step.isTrial, !isTrial, rows > 0 { return found = step.places.upperBound }
        if isTrial || !step.isTrial { count += rows }
        done = step.places.upperBound
    }

    /// How much of it is done, from 0 to 1.
    public var part: Double { end > first ? Double(done - first) / Double(end - first) : 1 }
}
