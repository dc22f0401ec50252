/// First in, first out, without moving what is left at every step.
struct Queue<Element> {
    /// Elements taken before their places are given up.
    private static var slack: Int { 1024 }

    private var elements: [Element] = []
    private var start = 0

    var count: Int { elements.count - start }
    var isEmpty: Bool { count == 0 }

    mutating func append(_ element: Element) {
        elements.append(element)
    }

    mutating func popFirst() -> Element? {
        guard start < elements.count else { return nil }
        defer {
            start += 1
            if start == elements.count {
                elements.removeAll(keepingCapacity: true)
                start = 0
            } else if start > Self.slack, start * 2 > elements.count {
                elements.removeFirst(start)
                start = 0
            }
        }
        return elements[start]
    }

    /// Takes out all that are not to be kept.
    mutating func keep(where isKept: (Element) -> Bool) {
        elements = elements[start...].filter(isKept)
        start = 0
    }
}

extension Queue: Sendable where Element: Sendable {}

extension Queue where Element: Equatable {
    /// Takes the first equal element out.
    ///
    /// - Returns: whether there was one.
    mutating func remove(_ element: Element) -> Bool {
        guard let place = elements[start...].firstIndex(of: element) else { return false }
        elements.remove(at: place)
        return true
    }
}

extension Array {
    /// What a queue holds, oldest first.
    init(_ queue: Queue<Element>) {
        var queue = queue
        self = []
        while let element = queue.popFirst() { append(element) }
    }
}
