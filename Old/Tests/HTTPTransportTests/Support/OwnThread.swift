import Foundation
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

/// The name of the thread that asks; a failure to read it is no thread's name.
func threadName() -> String {
    let name = FileManager.default.contents(atPath: "/proc/thread-self/comm") ?? Data()
    return String(decoding: name, as: UTF8.self).trimmingCharacters(in: .newlines)
}
