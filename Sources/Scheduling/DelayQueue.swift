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
