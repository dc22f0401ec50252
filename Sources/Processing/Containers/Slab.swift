/// Elements in numbered slots that are reused, so that an element needs no allocation.
///
/// A token names a slot and one use of it. A slot counts its uses, odd while it is taken. So a token of an earlier use
/// is recognised, until one slot has been used two thousand million times.
struct Slab<Element, Kind> {
    private struct Slot {
        var use: UInt32
        var element: Element
    }

    /// Stands in empty slots, so that they keep nothing alive.
    private let vacant: Element
    private var slots: [Slot] = []
    private var free: [Int32] = []

    init(vacant: Element, capacity: Int) {
        self.vacant = vacant
        slots.reserveCapacity(capacity)
        free.reserveCapacity(capacity)
    }

    var count: Int { slots.count - free.count }

    mutating func insert(_ element: Element) -> Token<Kind> {
        guard let slot = free.popLast() else {
            slots.append(Slot(use: 1, element: element))
            return Token(slot: Int32(slots.count - 1), use: 1)
        }
        let index = Int(slot)
        slots[index].use &+= 1
        slots[index].element = element
        return Token(slot: slot, use: slots[index].use)
    }

    func contains(_ token: Token<Kind>) -> Bool {
        let index = Int(token.slot)
        return index >= 0 && index < slots.count && slots[index].use == token.use
    }

    /// The element of a token that is in use, changed as it stands. Ask ``contains(_:)`` of tokens from outside.
    subscript(token: Token<Kind>) -> Element {
        // Inlined, or each use allocates a frame for the accessor.
        @inline(__always) _read { yield slots[Int(token.slot)].element }
        @inline(__always) _modify { yield &slots[Int(token.slot)].element }
    }

    mutating func remove(_ token: Token<Kind>) {
        guard contains(token) else { return }
        let index = Int(token.slot)
        slots[index].use &+= 1
        slots[index].element = vacant
        free.append(token.slot)
    }

    /// The tokens in use, in the order of their slots; slow, for what happens rarely.
    var tokens: [Token<Kind>] {
        slots.indices.filter { slots[$0].use % 2 == 1 }.map { Token(slot: Int32($0), use: slots[$0].use) }
    }
}
