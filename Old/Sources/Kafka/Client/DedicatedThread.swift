internal import CLibrdkafka
import Glibc

/// An OS thread for calls that block, which must stay off Swift's cooperative pool.
enum DedicatedThread {
    private final class Body {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Runs `body` on a detached thread of its own. Linux keeps the first 15 bytes of the name.
    static func start(_ name: String, _ body: @escaping @Sendable () -> Void) throws(KafkaError) {
        // Retained across the C boundary and released by the thread itself, or here when there is no thread.
        let context = Unmanaged.passRetained(
            Body {
                grantor_name_thread(name)
                body()
            })
        var thread = pthread_t()
        let result = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, context.toOpaque())
        guard result == 0 else {
            context.release()
            throw .resourcesExhausted("pthread_create", errno: result)
        }
        pthread_detach(thread)
    }

    /// Runs a blocking call on a thread of its own and suspends until it has returned.
    static func call<Value: Sendable>(
        _ name: String, _ body: @escaping @Sendable () -> Result<Value, KafkaError>
    ) async throws(KafkaError) -> Value {
        let result: Result<Value, KafkaError> = await withCheckedContinuation { continuation in
            do throws(KafkaError) {
                try start(name) { continuation.resume(returning: body()) }
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
        return try result.get()
    }
}
