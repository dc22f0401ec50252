import Foundation
import Metrics
import Synchronization

/// Writes lines to a file descriptor, and keeps nobody waiting for its reader: what stalls a log must not stall the worker.
///
/// A line that the descriptor takes at once is written at once. Where the reader is behind, lines wait for it on a thread of
/// their own, up to a bound, in their order; those beyond it are lost, and counted.
final class DescriptorWriter: Sendable {
    /// Most bytes of lines that wait for the reader.
    static let maxWaitingBytes = 1 << 20
    /// Longest line that is written at once: a pipe with room takes as much in one piece (`PIPE_BUF`, pipe(7)).
    private static let maxBytesAtOnce = 4096

    /// The process's standard error.
    static let standardError = DescriptorWriter(descriptor: STDERR_FILENO)

    private struct State {
        var waiting: [[UInt8]] = []
        /// Of the lines that wait, and of those that are being written.
        var bytes = 0
        /// Whether there is a thread that writes.
        var isWriting = false
        var lost = 0
        var losses: Counter?
    }

    private let descriptor: Int32
    private let state = Mutex(State())

    /// A writer to a descriptor that stays open.
    init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// Lines that were lost so far.
    var lost: Int { state.withLock { $0.lost } }

    /// Counts lost lines with a metric, too, those lost before included.
    func count(with losses: Counter) {
        let lost = state.withLock { state in
            state.losses = losses
            return state.lost
        }
        losses.increment(by: Int64(lost))
    }

    /// Writes a line, or has it written. What a closed descriptor refuses is gone: there is no other place to say so.
    func write(_ line: [UInt8]) {
        let mustBegin = state.withLock { state in
            if !state.isWriting, line.count <= Self.maxBytesAtOnce, isReady, writeAll(line) { return false }
            guard state.bytes + line.count <= Self.maxWaitingBytes else {
                state.lost += 1
                state.losses?.increment()
                return false
            }
            state.waiting.append(line)
            state.bytes += line.count
            defer { state.isWriting = true }
            return !state.isWriting
        }
        guard mustBegin else { return }
        Thread.detachNewThread { [self] in writeWaiting() }
    }

    /// Waits until nothing waits any more, or the time is over: a process's last lines say why it ends.
    func finish(within limit: Duration) {
        let end = ContinuousClock.now + limit
        while state.withLock({ $0.isWriting }), ContinuousClock.now < end { usleep(1000) }
    }

    private func writeWaiting() {
        var written = 0
        while true {
            let lines = state.withLock { state in
                state.bytes -= written
                state.isWriting = !state.waiting.isEmpty
                defer { state.waiting = [] }
                return state.waiting
            }
            guard !lines.isEmpty else { return }
            for line in lines {
                while !writeAll(line) {
                    var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    poll(&room, 1, -1)
                }
            }
            written = lines.reduce(0) { $0 + $1.count }
        }
    }

    /// Whether the descriptor takes something at once, or is closed.
    private var isReady: Bool {
        var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&room, 1, 0) > 0
    }

    /// - Returns: false if nothing was written because there is no room, which only a descriptor says that does not block.
    private func writeAll(_ line: [UInt8]) -> Bool {
        var rest = line[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
            if written > 0 {
                rest = rest.dropFirst(written)
            } else if written < 0, errno == EAGAIN {
                guard rest.count < line.count else { return false }
                // The rest belongs to what is there already.
                var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&room, 1, -1)
            } else if written == 0 || errno != EINTR {
                return true
            }
        }
        return true
    }
}
