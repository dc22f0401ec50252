import CLibcurl
import Glibc
import Scheduling
import Threading

/// libcurl's own price of a call: one multi handle driven by readiness, and nothing around it. As many calls are under
/// way as there are connections; another follows each that is answered.
final class LibcurlCalls {
    /// It cannot be measured.
    struct Failure: Error, CustomStringConvertible {
        let description: String

        init(_ description: String) { self.description = description }
    }

    private let multi: UnsafeMutableRawPointer
    private let poller: Poller
    private let headers: UnsafeMutablePointer<curl_slist>?
    private let bodies: [UnsafeMutableBufferPointer<UInt8>]
    private let connections: Int
    private var handles: [UnsafeMutableRawPointer] = []
    private var sent = 0
    private var answered = 0
    private var deadline: Instant?

    /// - Parameters:
    ///   - bodies: One for each call that is made.
    ///   - connections: How many are open, and calls under way.
    init(url: String, caFile: String, bodies: [[UInt8]], connections: Int) throws(Failure) {
        guard let multi = curl_multi_init(), let poller = try? Poller() else { throw Failure("libcurl is not there") }
        self.multi = multi
        self.poller = poller
        self.connections = connections
        var headers = curl_slist_append(nil, "Content-Type: application/json")
        headers = curl_slist_append(headers, "Expect:")
        self.headers = headers
        // libcurl reads them where they lie.
        self.bodies = bodies.map { body in
            let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: body.count)
            _ = copy.initialize(from: body)
            return copy
        }
        grantor_multi_set_long(multi, CURLMOPT_MAXCONNECTS, connections)
        let context = Unmanaged.passUnretained(self).toOpaque()
        grantor_multi_set_socket_callback(multi, Self.socketChanged, context)
        grantor_multi_set_timer_callback(multi, Self.timerChanged, context)
        for _ in 0..<connections {
            guard let easy = curl_easy_init() else { throw Failure("libcurl has no memory") }
            handles.append(easy)
            set(easy, url, caFile)
        }
    }

    deinit {
        for easy in handles {
            curl_multi_remove_handle(multi, easy)
            curl_easy_cleanup(easy)
        }
        curl_multi_cleanup(multi)
        curl_slist_free_all(headers)
        for body in bodies { body.deallocate() }
    }

    /// As the worker sets them: the same protocol, cipher and buffers.
    private func set(_ easy: UnsafeMutableRawPointer, _ url: String, _ caFile: String) {
        grantor_easy_set_string(easy, CURLOPT_URL, url)
        grantor_easy_set_string(easy, CURLOPT_PROXY, "")
        grantor_easy_set_string(easy, CURLOPT_CAPATH, nil)
        grantor_easy_set_string(easy, CURLOPT_CAINFO, caFile)
        grantor_easy_set_string(
            easy, CURLOPT_TLS13_CIPHERS, "TLS_AES_128_GCM_SHA256:TLS_AES_256_GCM_SHA384:TLS_CHACHA20_POLY1305_SHA256")
        grantor_easy_set_long(easy, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        grantor_easy_set_long(easy, CURLOPT_NOSIGNAL, 1)
        grantor_easy_set_long(easy, CURLOPT_UPLOAD_BUFFERSIZE, 16 << 10)
        grantor_easy_set_long(easy, CURLOPT_BUFFERSIZE, (4 << 10) - 1)
        grantor_easy_set_long(easy, CURLOPT_POST, 1)
        grantor_easy_set_list(easy, CURLOPT_HTTPHEADER, headers)
        grantor_easy_set_write_callback(easy, CURLOPT_WRITEFUNCTION) { _, size, count, _ in size * count }
    }

    /// Makes a call for each body. Calls that open connections are not measured, nor is the second one of each.
    ///
    /// - Returns: microseconds of the thread's CPU for a call.
    func run() throws(Failure) -> Double {
        var readinesses: [Poller.Readiness] = []
        var begin: (time: Int64, answered: Int)?
        for easy in handles { send(easy) }
        while answered < bodies.count {
            poller.wait(until: deadline, into: &readinesses)
            for ready in readinesses {
                act(
                    Int32(truncatingIfNeeded: ready.token),
                    (ready.canRead ? CURL_CSELECT_IN : 0) | (ready.canWrite ? CURL_CSELECT_OUT : 0)
                        | (ready.hasFailed ? CURL_CSELECT_ERR : 0))
            }
            if let deadline, deadline <= .now {
                self.deadline = nil
                act(CURL_SOCKET_TIMEOUT, 0)
            }
            try takeAnswers()
            if begin == nil, answered >= 2 * connections { begin = (Self.processorTime, answered) }
        }
        guard let begin, answered > begin.answered else { throw Failure("too few calls to measure") }
        return Double(Self.processorTime - begin.time) / 1000 / Double(answered - begin.answered)
    }

    private func takeAnswers() throws(Failure) {
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
            guard grantor_message_result(message) == CURLE_OK,
                grantor_easy_get_long(easy, CURLINFO_RESPONSE_CODE) == 200
            else { throw Failure("a call of libcurl alone has failed") }
            curl_multi_remove_handle(multi, easy)
            answered += 1
            send(easy)
        }
    }

    private func send(_ easy: UnsafeMutableRawPointer) {
        guard sent < bodies.count else { return }
        let body = bodies[sent]
        sent += 1
        grantor_easy_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.count))
        grantor_easy_set_pointer(easy, CURLOPT_POSTFIELDS, UnsafeMutableRawPointer(body.baseAddress))
        curl_multi_add_handle(multi, easy)
    }

    private func act(_ descriptor: Int32, _ mask: Int32) {
        var running: Int32 = 0
        curl_multi_socket_action(multi, descriptor, mask, &running)
    }

    private static var processorTime: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// Sockets of idle connections stay watched: to take them off and on again would cost two calls to the kernel.
    private static let socketChanged: curl_socket_callback = { _, descriptor, what, context, _ in
        guard let context, what != CURL_POLL_REMOVE else { return 0 }
        let calls = Unmanaged<LibcurlCalls>.fromOpaque(context).takeUnretainedValue()
        var interest: Poller.Interest = []
        if what & CURL_POLL_IN != 0 { interest.insert(.read) }
        if what & CURL_POLL_OUT != 0 { interest.insert(.write) }
        calls.watch(descriptor, interest)
        return 0
    }

    private func watch(_ descriptor: Int32, _ interest: Poller.Interest) {
        do throws(ThreadingError) {
            try poller.modify(descriptor, token: UInt64(descriptor), for: interest)
        } catch {
            try? poller.add(descriptor, token: UInt64(descriptor), for: interest)
        }
    }

    private static let timerChanged: curl_multi_timer_callback = { _, milliseconds, context in
        guard let context else { return 0 }
        let calls = Unmanaged<LibcurlCalls>.fromOpaque(context).takeUnretainedValue()
        calls.deadline = milliseconds < 0 ? nil : .now + .milliseconds(milliseconds)
        return 0
    }
}
