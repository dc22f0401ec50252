import CommandParser
import Glibc

/// Reads a text file line by line, however large it is.
final class LineReader {
    struct Line: Hashable {
        /// From 1.
        let number: Int
        /// Without its end; nil for one of more than ``LineReader/longest`` bytes.
        let bytes: [UInt8]?
    }

    /// Most bytes of a line.
    static let longest = 64 << 10
    private static let chunk = 1 << 20

    private let descriptor: Int32
    private let name: String
    private var buffer: [UInt8] = []
    private var start = 0
    private var isAtEnd = false
    private var number = 0
    /// Bytes that were handed out.
    private(set) var read = 0
    let size: Int

    /// - Throws: the end of a command whose file cannot be read.
    init(_ path: String) throws(CommandFailure) {
        let name = PrintableText.singleLine(path)
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        var status = stat()
        guard descriptor >= 0, fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            if descriptor >= 0 { close(descriptor) }
            throw CommandFailure(.failed, "\(name) cannot be read, or is no file")
        }
        self.name = name
        self.descriptor = descriptor
        size = Int(status.st_size)
    }

    deinit { close(descriptor) }

    /// The next line that is not blank; nil at the end.
    func next() throws(CommandFailure) -> Line? {
        while let line = try line() {
            if line.bytes?.isEmpty != true { return line }
        }
        return nil
    }

    private func line() throws(CommandFailure) -> Line? {
        var isTooLong = false
        var searched = start
        while true {
            if let end = buffer[searched...].firstIndex(of: UInt8(ascii: "\n")) {
                defer { start = end + 1 }
                return made(start..<end, isTooLong: isTooLong, ended: 1)
            }
            if isAtEnd {
                guard start < buffer.count || isTooLong else { return nil }
                defer { start = buffer.count }
                return made(start..<buffer.count, isTooLong: isTooLong, ended: 0)
            }
            if buffer.count - start > Self.longest {
                // Nobody needs what stands in it.
                isTooLong = true
                read += buffer.count - start
                buffer.removeAll(keepingCapacity: true)
            } else {
                buffer.removeFirst(start)
            }
            start = 0
            searched = buffer.count
            try fill()
        }
    }

    private func made(_ range: Range<Int>, isTooLong: Bool, ended: Int) -> Line {
        number += 1
        read += range.count + ended
        var bytes = buffer[range]
        if bytes.last == UInt8(ascii: "\r") { bytes.removeLast() }
        return Line(number: number, bytes: isTooLong || bytes.count > Self.longest ? nil : Array(bytes))
    }

    private func fill() throws(CommandFailure) {
        let before = buffer.count
        buffer.append(contentsOf: repeatElement(0, count: Self.chunk))
        while true {
            let count = buffer.withUnsafeMutableBytes { bytes in
                Glibc.read(descriptor, bytes.baseAddress?.advanced(by: before), Self.chunk)
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw CommandFailure(.failed, "\(name) cannot be read any further") }
            buffer.removeLast(Self.chunk - count)
            isAtEnd = count == 0
            return
        }
    }
}
