/// A queue: elements leave in the order in which they came, each in constant time.
struct FIFO<Element> {
    private var elements: [Element] = []
    /// Elements before it have left, and go when they are half of all.
    private var head = 0

    var count: Int { elements.count - head }
    var isEmpty: Bool { head == elements.count }
    var first: Element? { isEmpty ? nil : elements[head] }

    /// The element so many behind the first.
    subscript(index: Int) -> Element {
        get { elements[head + index] }
        _modify { yield &elements[head + index] }
    }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func popFirst() -> Element? {
        guard !isEmpty else { return nil }
        let element = elements[head]
        head += 1
        if head == elements.count {
            elements.removeAll(keepingCapacity: true)
            head = 0
        } else if head >= 64, head * 2 >= elements.count {
            elements.removeFirst(head)
            head = 0
        }
        return element
    }
}

extension FIFO: Sendable where Element: Sendable {}
