internal import Glibc
internal import Synchronization
internal import Threading

/// Writes lines to a file descriptor. Callers never wait for its reader, because a stalled log must not stall the
/// worker.
///
/// A line that the descriptor takes at once is written at once. While the reader is behind, lines wait in order for a
/// separate thread, up to ``maxWaitingBytes``. Further lines are lost and counted, and so is each that the descriptor
/// refuses. If the other side has closed it, every line is lost, so the process ignores or blocks SIGPIPE.
public final class DescriptorWriter: Sendable {
    /// Most bytes of lines that wait for the reader.
    static let maxWaitingBytes = 1 << 20
    /// Longest line that is written at once: a pipe with room takes so much in one piece (`PIPE_BUF`, pipe(7)).
    private static let maxBytesAtOnce = 4096

    public static let standardError = DescriptorWriter(descriptor: STDERR_FILENO)

    private struct State {
        var waiting: [[UInt8]] = []
        /// Of the lines that wait, and of those that are being written.
        var bytes = 0
        /// Whether there is a thread that writes.
        var isWriting = false
        var lost = 0
    }

    private let descriptor: Int32
    private let state = Mutex(State())

    /// A writer to a descriptor that stays open as long as the writer is used; its owner closes it.
    init(descriptor: Int32) { self.descriptor = descriptor }

    public var lost: Int { state.withLock { $0.lost } }

    /// Writes a line, or has it written. A line that the descriptor refuses is lost, because there is no other output
    /// for it.
    func write(_ line: [UInt8]) {
        let mustBegin = state.withLock { state in
            if !state.isWriting, line.count <= Self.maxBytesAtOnce, isReady {
                switch writeAll(line) {
                case .written: return false
                case .refused:
                    state.lost += 1
                    return false
                case .noRoom: break
                }
            }
            guard state.bytes + line.count <= Self.maxWaitingBytes else {
                state.lost += 1
                return false
            }
            state.waiting.append(line)
            state.bytes += line.count
            defer { state.isWriting = true }
            return !state.isWriting
        }
        guard mustBegin else { return }
        do {
            // Not joined: it runs until nothing waits any more.
            _ = try OwnerThread(name: "log-writer") { [self] in writeWaiting() }
        } catch {
            state.withLock { state in
                state.lost += state.waiting.count
                state.waiting = []
                state.bytes = 0
                state.isWriting = false
            }
        }
    }

    /// Waits until all lines are written, or the time is over: a process's last lines say why it ends.
    public func finish(within limit: Duration) {
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
            for line in lines { writeWaiting(line) }
            written = lines.reduce(0) { $0 + $1.count }
        }
    }

    private func writeWaiting(_ line: [UInt8]) {
        while true {
            switch writeAll(line) {
            case .written: return
            case .refused: return state.withLock { $0.lost += 1 }
            case .noRoom: waitForRoom()
            }
        }
    }

    /// Whether the descriptor takes something at once, or is closed.
    private var isReady: Bool {
        var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&room, 1, 0) > 0
    }

    private func waitForRoom() {
        var room = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        _ = poll(&room, 1, -1)
    }

    private enum Writing {
        case written
        /// Nothing was written, which only a descriptor says that does not block.
        case noRoom
        /// It takes no more, such as a full disk or a closed pipe.
        case refused
    }

    private func writeAll(_ line: [UInt8]) -> Writing {
        var rest = line[...]
        while !rest.isEmpty {
            let written = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if written > 0 {
                rest = rest.dropFirst(written)
            } else if written < 0, errno == EAGAIN {
                guard rest.count < line.count else { return .noRoom }
                // The rest belongs to what is there already.
                waitForRoom()
            } else if written == 0 || errno != EINTR {
                return .refused
            }
        }
        return .written
    }
}
