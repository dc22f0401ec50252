import Synchronization

/// A value that several tasks of a test look at and change.
final class Shared<Value: Sendable>: Sendable {
    private let state: Mutex<Value>

    init(_ value: Value) { state = Mutex(value) }

    var value: Value { state.withLock { $0 } }

    func change(_ body: (inout Value) -> Void) {
        state.withLock { value in
            var next = value
            body(&next)
            value = next
        }
    }
}
