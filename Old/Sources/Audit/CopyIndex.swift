import Purchases

/// The first copy of each event on its topic: 48 bytes for each event that the topics hold.
struct CopyIndex: Sendable {
    struct Copy: Sendable {
        /// Of its key, value and headers.
        let content: Identity
        let place: Place
    }

    /// What a record turned out to be.
    enum Arrival: Sendable {
        case first
        case repeated
        /// It differs from the copy that came before.
        case altered(Copy)
    }

    private(set) var copies: [Identity: Copy] = [:]

    mutating func take(_ id: Identity, _ copy: Copy) -> Arrival {
        guard let known = copies[id] else {
            copies[id] = copy
            return .first
        }
        return known.content == copy.content ? .repeated : .altered(known)
    }

    /// The first copy of an event, which nobody asks for again.
    mutating func remove(_ id: Identity) -> Copy? { copies.removeValue(forKey: id) }
}
