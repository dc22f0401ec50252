import CLibcurl
import Foundation
import Glibc

/// Calls to Apple by libcurl and nothing else, as many at a time as a worker makes: the limit that receipts are measured
/// against.
///
/// One thread, libcurl's multi handle driven by epoll, connections that are kept. No queue, no retry, no reader of answers,
/// and the handles are used again and again.
final class BareLoop {
    /// More are delivered by the next call.
    private static let maxEventsPerWait = 256
    /// Without an event for so long nothing will come any more.
    private static let patienceMilliseconds: Int32 = 30_000

    private let multi: UnsafeMutableRawPointer
    private let transfers: [BareTransfer]
    private let watch: Watch
    private var running: Int32 = 0

    /// What libcurl's callbacks write to, by a pointer that lives as long as the loop.
    private final class Watch {
        let poller: Int32
        /// When libcurl wants to be called although nothing happened.
        var deadline: Double?

        init() { poller = grantor_epoll_create() }
        deinit { close(poller) }
    }

    /// - Parameters:
    ///   - caFile: PEM of who vouches for the server.
    ///   - body: What each call sends; every handle has a copy of its own, as a worker's requests have.
    init(url: String, caFile: String, body: [UInt8], inFlight: Int) throws {
        guard curl_global_init(Int(CURL_GLOBAL_ALL)) == CURLE_OK, let multi = curl_multi_init() else {
            throw BenchFailure(description: "no handle for bare calls")
        }
        self.multi = multi
        watch = Watch()
        transfers = try (0..<inFlight).map { _ in try BareTransfer(url: url, caFile: caFile, body: body) }
        let context = Unmanaged.passUnretained(watch).toOpaque()
        let codes = [
            grantor_multi_set_long(multi, CURLMOPT_MAXCONNECTS, inFlight),
            grantor_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, inFlight),
            grantor_multi_set_socket_callback(multi, Self.socketChanged, context),
            grantor_multi_set_timer_callback(multi, Self.timerChanged, context),
        ]
        guard codes.allSatisfy({ $0 == CURLM_OK }) else {
            throw BenchFailure(description: "libcurl refused an option")
        }
    }

    deinit {
        for transfer in transfers { curl_multi_remove_handle(multi, transfer.easy) }
        curl_multi_cleanup(multi)
    }

    /// Makes calls without a pause.
    ///
    /// - Parameter warmUp: How many do not count: the first connect.
    /// - Returns: CPU time of one call, in microseconds (clock(3)), and calls per second.
    func run(warmUp: Int, calls: Int) throws -> BareLoopCost {
        for transfer in transfers { curl_multi_add_handle(multi, transfer.easy) }
        try finish(max(warmUp, 1))
        let start = (cpu: clock(), time: ContinuousClock.now)
        let finished = try finish(calls)
        let cpu = Double(clock() - start.cpu) / Double(CLOCKS_PER_SEC) * 1e6
        let seconds = (ContinuousClock.now - start.time) / .seconds(1)
        return BareLoopCost(microseconds: cpu / Double(finished), callsPerSecond: Double(finished) / seconds)
    }

    /// - Returns: how many calls ended; a few more than asked for, because they end in batches.
    @discardableResult
    private func finish(_ calls: Int) throws -> Int {
        var finished = 0
        while finished < calls {
            try awaitEvents()
            finished += try renewEnded()
        }
        return finished
    }

    private func awaitEvents() throws {
        let now = Self.milliseconds
        let sleep = watch.deadline.map { Int32(max(0, ($0 - now).rounded(.up))) } ?? Self.patienceMilliseconds
        try withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: Self.maxEventsPerWait) { events in
            let count = epoll_wait(watch.poller, events.baseAddress, Int32(events.count), sleep)
            guard count > 0 || watch.deadline != nil || sleep == 0 else {
                throw BenchFailure(description: "the bare calls are not answered")
            }
            for index in 0..<max(0, Int(count)) {
                guard let event = events.baseAddress?.advanced(by: index) else { continue }
                let flags = event.pointee.events
                var mask: Int32 = 0
                if flags & EPOLLIN.rawValue != 0 { mask |= CURL_CSELECT_IN }
                if flags & EPOLLOUT.rawValue != 0 { mask |= CURL_CSELECT_OUT }
                if flags & (EPOLLERR.rawValue | EPOLLHUP.rawValue) != 0 { mask |= CURL_CSELECT_ERR }
                curl_multi_socket_action(multi, grantor_epoll_descriptor(event), mask, &running)
            }
        }
        guard let deadline = watch.deadline, deadline <= Self.milliseconds else { return }
        watch.deadline = nil
        curl_multi_socket_action(multi, CURL_SOCKET_TIMEOUT, 0, &running)
    }

    /// Starts every call that ended anew.
    private func renewEnded() throws -> Int {
        var ended = 0
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle else { continue }
            let code = grantor_message_result(message)
            guard code == CURLE_OK else { throw BenchFailure(description: String(cString: curl_easy_strerror(code))) }
            curl_multi_remove_handle(multi, easy)
            curl_multi_add_handle(multi, easy)
            ended += 1
        }
        return ended
    }

    /// Time that only goes forward.
    private static var milliseconds: Double {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Double(time.tv_sec) * 1e3 + Double(time.tv_nsec) / 1e6
    }

    private static let socketChanged: curl_socket_callback = { _, descriptor, what, context, _ in
        guard let context else { return 0 }
        let watch = Unmanaged<Watch>.fromOpaque(context).takeUnretainedValue()
        guard what != CURL_POLL_REMOVE else {
            _ = grantor_epoll_control(watch.poller, EPOLL_CTL_DEL, descriptor, 0, 0)
            return 0
        }
        let events =
            (what & CURL_POLL_IN != 0 ? EPOLLIN.rawValue : 0) | (what & CURL_POLL_OUT != 0 ? EPOLLOUT.rawValue : 0)
        if grantor_epoll_control(watch.poller, EPOLL_CTL_MOD, descriptor, 0, events) != 0 {
            _ = grantor_epoll_control(watch.poller, EPOLL_CTL_ADD, descriptor, 0, events)
        }
        return 0
    }

    private static let timerChanged: curl_multi_timer_callback = { _, milliseconds, context in
        guard let context else { return 0 }
        let watch = Unmanaged<Watch>.fromOpaque(context).takeUnretainedValue()
        watch.deadline = milliseconds < 0 ? nil : BareLoop.milliseconds + Double(milliseconds)
        return 0
    }
}

/// What ``BareLoop`` came to.
struct BareLoopCost: Codable, Sendable {
    /// CPU time of one call.
    let microseconds: Double
    let callsPerSecond: Double
}
