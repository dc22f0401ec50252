internal import CLibcurl
import Glibc

/// The one thread that libcurl's handles live on.
enum LoopThread {
    private final class Body {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Runs `body` on a detached thread of its own, with every signal blocked.
    ///
    /// With `CURLOPT_NOSIGNAL` libcurl leaves SIGPIPE alone, and OpenSSL writes to sockets that the other side may have
    /// closed. Blocked, the signal stays pending on this thread and the write fails with EPIPE; what the process does
    /// about SIGPIPE elsewhere is not touched. The threads that libcurl looks names up on inherit the mask.
    static func start(_ body: @escaping @Sendable () -> Void) throws(HTTPTransportError) {
        // Retained across the C boundary and released by the thread itself, or here when there is no thread.
        let context = Unmanaged.passRetained(Body(body))
        var thread = pthread_t()
        let result = pthread_create(
            &thread, nil,
            { context in
                guard let context else { return nil }
                var signals = sigset_t()
                sigfillset(&signals)
                pthread_sigmask(SIG_BLOCK, &signals, nil)
                // Linux keeps the first 15 bytes.
                grantor_name_transport_thread("http-transport")
                Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run()
                return nil
            }, context.toOpaque())
        guard result == 0 else {
            context.release()
            throw .resourcesExhausted("pthread_create", errno: result)
        }
        pthread_detach(thread)
    }
}
