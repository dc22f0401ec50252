import Synchronization

/// Carries a value that is not sendable to the one thread that owns it from then on.
///
/// Unchecked because the compiler does not see what makes it safe: the maker keeps no reference, and ``take()`` hands
/// the value out once, under a lock.
final class HandedOver<Value>: @unchecked Sendable {
    private let lock = Mutex(())
    private var value: Value?

    init(_ value: Value) { self.value = value }

    func take() -> Value? {
        lock.withLock { _ in
            defer { value = nil }
            return value
        }
    }
}
