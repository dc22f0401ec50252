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

    /// Elements in the queue, due or not.
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

/// At most one deadline for each of many small numbers, such as the slots of connections: setting one again moves it.
///
/// A heap that knows where each number stands, so moving and removing take O(log n), and nothing out of date is kept.
/// Numbers whose deadlines are equal come in rising order. Memory is bounded by the highest number that was used.
public struct DeadlineQueue: Sendable {
    private struct Entry: Sendable {
        var due: Instant
        var number: Int

        func isBefore(_ other: Entry) -> Bool { due == other.due ? number < other.number : due < other.due }
    }

    private var entries: [Entry] = []
    /// Where each number stands among the entries; -1 for one without a deadline.
    private var positions: [Int] = []

    public init() {}

    public var count: Int { entries.count }

    /// The first deadline; nil if there is none.
    public var nextDue: Instant? { entries.first?.due }

    /// Sets the deadline of a number, in place of the one that it had. Numbers are not negative.
    public mutating func set(_ number: Int, due: Instant) {
        if number >= positions.count {
            positions += [Int](repeating: -1, count: number + 1 - positions.count)
        }
        if positions[number] < 0 {
            positions[number] = entries.count
            entries.append(Entry(due: due, number: number))
        } else {
            entries[positions[number]].due = due
        }
        moveDown(from: positions[number])
        moveUp(from: positions[number])
    }

    /// Removes the deadline of a number, if it has one.
    public mutating func remove(_ number: Int) {
        guard number < positions.count, positions[number] >= 0 else { return }
        remove(at: positions[number])
    }

    /// Takes the number whose deadline is first, if it has come; call it until it gives nil.
    public mutating func popDue(at now: Instant) -> Int? {
        guard let first = entries.first, first.due <= now else { return nil }
        remove(at: 0)
        return first.number
    }

    private mutating func remove(at index: Int) {
        positions[entries[index].number] = -1
        let last = entries.removeLast()
        guard index < entries.count else { return }
        place(last, at: index)
        moveDown(from: index)
        moveUp(from: positions[last.number])
    }

    private mutating func place(_ entry: Entry, at index: Int) {
        entries[index] = entry
        positions[entry.number] = index
    }

    private mutating func moveUp(from start: Int) {
        var index = start
        let entry = entries[index]
        while index > 0, entry.isBefore(entries[(index - 1) / 2]) {
            place(entries[(index - 1) / 2], at: index)
            index = (index - 1) / 2
        }
        place(entry, at: index)
    }

    private mutating func moveDown(from start: Int) {
        var index = start
        let entry = entries[index]
        while true {
            var child = 2 * index + 1
            guard child < entries.count else { break }
            if child + 1 < entries.count, entries[child + 1].isBefore(entries[child]) { child += 1 }
            guard entries[child].isBefore(entry) else { break }
            place(entries[child], at: index)
            index = child
        }
        place(entry, at: index)
    }
}
