/// Elements that wait for their moment, a binary heap: insertion and removal of the first take O(log n).
///
/// Elements that are due at one instant leave in the order in which they came. An element cannot be taken back: let it
/// name what it is for, and drop it when it comes out and no longer applies. The queue has no bound; each owner bounds
/// the work that it queues here.
///
/// All of it is inlinable, because a heap that is not specialised in the module that uses it costs sixteen times as
/// much.
@frozen
public struct DelayQueue<Element> {
    @frozen
    @usableFromInline
    struct Entry {
        @usableFromInline let due: Instant
        @usableFromInline let sequence: UInt64
        @usableFromInline let element: Element

        @inlinable
        init(due: Instant, sequence: UInt64, element: Element) {
            self.due = due
            self.sequence = sequence
            self.element = element
        }

        @inlinable
        func isBefore(_ other: Entry) -> Bool {
            due == other.due ? sequence < other.sequence : due < other.due
        }
    }

    /// `entries[i]` is before `entries[2i + 1]` and `entries[2i + 2]`.
    @usableFromInline var entries: [Entry] = []
    @usableFromInline var nextSequence: UInt64 = 0

    @inlinable
    public init() {}

    @inlinable
    public var count: Int { entries.count }

    @inlinable
    public var isEmpty: Bool { entries.isEmpty }

    /// When the first element is due; nil if there is none.
    @inlinable
    public var nextDue: Instant? { entries.first?.due }

    /// Adds an element that is due at an instant, which may be past.
    @inlinable
    public mutating func insert(_ element: Element, due: Instant) {
        entries.append(Entry(due: due, sequence: nextSequence, element: element))
        nextSequence &+= 1
        moveUp(from: entries.count - 1)
    }

    /// Takes the first element if it is due; call it until it gives nil.
    @inlinable
    public mutating func popDue(at now: Instant) -> Element? {
        guard let first = entries.first, first.due <= now else { return nil }
        let last = entries.removeLast()
        if !entries.isEmpty {
            entries[0] = last
            moveDown(from: 0)
        }
        return first.element
    }

    @inlinable
    mutating func moveUp(from start: Int) {
        var index = start
        let entry = entries[index]
        while index > 0 {
            let parent = (index - 1) / 2
            guard entry.isBefore(entries[parent]) else { break }
            entries[index] = entries[parent]
            index = parent
        }
        entries[index] = entry
    }

    @inlinable
    mutating func moveDown(from start: Int) {
        let count = entries.count
        var index = start
        let entry = entries[index]
        while true {
            var child = 2 * index + 1
            guard child < count else { break }
            if child + 1 < count, entries[child + 1].isBefore(entries[child]) { child += 1 }
            guard entries[child].isBefore(entry) else { break }
            entries[index] = entries[child]
            index = child
        }
        entries[index] = entry
    }
}

extension DelayQueue: Sendable where Element: Sendable {}
extension DelayQueue.Entry: Sendable where Element: Sendable {}

/// Exponential backoff with jitter: delays whose ceiling doubles with every failure, up to a cap.
///
/// Jitter spreads a crowd that failed together, so that it does not come back together (AWS Architecture Blog,
/// "Exponential Backoff And Jitter").
@frozen
public struct Backoff: Hashable, Sendable {
    /// The part of the ceiling that chance decides.
    @frozen
    public enum Jitter: Hashable, Sendable {
        /// From zero up to the ceiling: spreads best, and may try again at once.
        case full
        /// From half of the ceiling up to it: never at once.
        case equal
    }

    public let base: Duration
    public let cap: Duration
    public let jitter: Jitter

    /// A backoff by its first and its highest ceiling; negative ones count as zero.
    @inlinable
    public init(base: Duration, cap: Duration, jitter: Jitter = .full) {
        self.base = max(base, .zero)
        self.cap = max(cap, .zero)
        self.jitter = jitter
    }

    /// The longest delay after so many failures: the base after the first, twice as long after each further one.
    @inlinable
    public func ceiling(afterFailures failures: Int) -> Duration {
        let base = base.clampedNanoseconds
        let cap = cap.clampedNanoseconds
        let doublings = min(max(failures, 1) - 1, 62)
        // A shift that would lose bits gives more than the cap anyway.
        guard base <= cap >> Int64(doublings) else { return .nanoseconds(cap) }
        return .nanoseconds(base << Int64(doublings))
    }

    /// A delay to wait after so many failures in a row, counted from 1.
    @inlinable
    public func delay(
        afterFailures failures: Int, using generator: inout some RandomNumberGenerator
    ) -> Duration {
        let ceiling = ceiling(afterFailures: failures).clampedNanoseconds
        let floor =
            switch jitter {
            case .full: Int64(0)
            case .equal: ceiling / 2
            }
        return .nanoseconds(Int64.random(in: floor...ceiling, using: &generator))
    }
}

/// Seeded randomness for jitter and simulations: one seed gives one sequence, on every machine.
///
/// The generator is SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014).
/// It is fast and well spread, and anybody who sees a few outputs can foretell the rest: never use it for secrets.
@frozen
public struct SplitMix64: RandomNumberGenerator, Sendable {
    @usableFromInline var state: UInt64

    /// A generator whose sequence the seed fixes; neighbouring seeds give unrelated sequences.
    @inlinable
    public init(seed: UInt64) { state = seed }

    @inlinable
    public mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
