/// A queue: elements leave in the order in which they came, each in constant time. It has no bound; each owner bounds
/// what it queues here.
///
/// All of it is inlinable, so that the module that uses it has it specialised.
@frozen
public struct FIFO<Element> {
    @usableFromInline var elements: [Element] = []
    /// Elements before it have left, and go when they are half of all.
    @usableFromInline var head = 0

    @inlinable
    public init() {}

    @inlinable
    public var count: Int { elements.count - head }
    @inlinable
    public var isEmpty: Bool { head == elements.count }
    @inlinable
    public var first: Element? { isEmpty ? nil : elements[head] }

    /// The element so many behind the first.
    @inlinable
    public subscript(index: Int) -> Element {
        get { elements[head + index] }
        _modify { yield &elements[head + index] }
    }

    /// Puts an element behind all others. Nothing bounds the queue.
    @inlinable
    public mutating func append(_ element: Element) { elements.append(element) }

    /// Takes the first element out; nil if there is none.
    @inlinable
    public mutating func popFirst() -> Element? {
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
