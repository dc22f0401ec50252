internal import Scheduling

/// At most one deadline for each of many small numbers, such as the slots of connections. Setting a deadline again
/// moves it.
///
/// A heap that knows where each number stands, so moving and removing take O(log n), and nothing out of date is kept.
/// Numbers whose deadlines are equal come in rising order. Memory is bounded by the highest number that was used.
struct DeadlineQueue: Sendable {
    private struct Entry: Sendable {
        var due: Instant
        var number: Int

        func isBefore(_ other: Entry) -> Bool { due == other.due ? number < other.number : due < other.due }
    }

    private var entries: [Entry] = []
    /// Where each number stands among the entries; -1 for one without a deadline.
    private var positions: [Int] = []

    /// Numbers with a deadline.
    var count: Int { entries.count }

    /// The first deadline; nil if there is none.
    var nextDue: Instant? { entries.first?.due }

    /// Sets the deadline of a number, and drops its former one. Numbers are not negative.
    mutating func set(_ number: Int, due: Instant) {
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
    mutating func remove(_ number: Int) {
        guard number < positions.count, positions[number] >= 0 else { return }
        remove(at: positions[number])
    }

    /// Takes the number whose deadline is first, if it has come; call it until it gives nil.
    mutating func popDue(at now: Instant) -> Int? {
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
