import Foundation
import Synchronization

/// Where log lines go.
struct LogOutput: Sendable {
    /// Writes one line, its line break included, in one piece.
    let write: @Sendable ([UInt8]) -> Void

    /// The process's standard error. Lines of several loggers never mix.
    static let standardError = LogOutput(DescriptorWriter(descriptor: STDERR_FILENO))
    /// The process's standard output. Lines of several loggers never mix.
    static let standardOutput = LogOutput(DescriptorWriter(descriptor: STDOUT_FILENO))

    /// An output that hands lines to a function.
    init(write: @escaping @Sendable ([UInt8]) -> Void) {
        self.write = write
    }

    private init(_ writer: DescriptorWriter) {
        self.init { writer.write($0) }
    }
}

/// Writes to a file descriptor, one caller at a time.
final class DescriptorWriter: Sendable {
    private let descriptor: Mutex<Int32>

    /// A writer to a descriptor that stays open.
    init(descriptor: Int32) {
        self.descriptor = Mutex(descriptor)
    }

    /// Writes all bytes, waiting for the reader if it must. What a closed or full descriptor refuses is lost: there is
    /// no other place to say so.
    func write(_ bytes: [UInt8]) {
        descriptor.withLock { descriptor in
            var rest = bytes[...]
            while !rest.isEmpty {
                let written = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
                if written > 0 {
                    rest = rest.dropFirst(written)
                } else if written < 0, errno == EAGAIN {
                    var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                    poll(&waiting, 1, -1)
                } else if written == 0 || errno != EINTR {
                    return
                }
            }
        }
    }
}
