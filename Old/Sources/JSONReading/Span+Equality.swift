extension Span<UInt8> {
    func isEqual(to other: borrowing Span<UInt8>) -> Bool {
        guard count == other.count else { return false }
        for index in indices where self[index] != other[index] { return false }
        return true
    }
}
