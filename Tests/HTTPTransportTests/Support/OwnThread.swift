import Testing

@testable import HTTPTransport

/// What `body` returns on a thread of its own; nil when the test's time is over first, or there is no thread.
func onOwnThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value? {
    let (values, value) = AsyncStream<Value>.makeStream()
    do throws(HTTPTransportError) {
        try LoopThread.start {
            value.yield(body())
            value.finish()
        }
    } catch {
        Issue.record(error)
        value.finish()
    }
    return await values.first { _ in true }
}
