import Foundation
import Testing

@testable import Logging

struct DescriptorWriterTests {
    private static func line(_ number: Int, of bytes: Int) -> [UInt8] {
        let start = "\(number) "
        return Array((start + String(repeating: "x", count: bytes - start.utf8.count - 1) + "\n").utf8)
    }

    /// Reads as many bytes on a thread of its own: both sides block, the task pool must not.
    private static func read(_ count: Int, from pipe: Pipe) async -> [Substring] {
        let read = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                // Exactly what is written: more would wait for an end that does not come.
                let data = try? pipe.fileHandleForReading.read(upToCount: count)
                continuation.resume(returning: data ?? Data())
            }
        }
        return String(decoding: read, as: UTF8.self).split(separator: "\n")
    }

    @Test("A writer goes on though nobody reads, and lines that find no room are counted", arguments: [100, 10_000])
    func noReader(bytes: Int) async {
        let pipe = Pipe()
        let writer = DescriptorWriter(descriptor: pipe.fileHandleForWriting.fileDescriptor)
        let count = 3 * DescriptorWriter.maxWaitingBytes / bytes
        for number in 0..<count { writer.write(Self.line(number, of: bytes)) }
        let kept = count - writer.lost
        // The bound, and the bytes that the pipe itself holds.
        #expect(kept * bytes > DescriptorWriter.maxWaitingBytes - bytes)
        #expect(kept * bytes < DescriptorWriter.maxWaitingBytes + (256 << 10))

        let lines = await Self.read(kept * bytes, from: pipe)
        #expect(lines.count == kept)
        #expect(lines.allSatisfy { $0.utf8.count == bytes - 1 })
        #expect(lines.compactMap { $0.split(separator: " ").first.flatMap { Int($0) } } == Array(0..<kept))

        // Once it reads again, all is as before.
        writer.finish(within: .seconds(60))
        writer.write(Self.line(count, of: bytes))
        #expect(
            await Self.read(bytes, from: pipe) == [
                String(decoding: Self.line(count, of: bytes).dropLast(), as: UTF8.self)[...]
            ])
        #expect(writer.lost == count - kept)
    }

    @Test("A descriptor that does not block is waited for all the same, and its lines stay whole")
    func nonBlocking() async {
        let pipe = Pipe()
        let descriptor = pipe.fileHandleForWriting.fileDescriptor
        #expect(fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0)
        let writer = DescriptorWriter(descriptor: descriptor)
        for number in 0..<200 { writer.write(Self.line(number, of: 3000)) }
        #expect(writer.lost == 0)
        let lines = await Self.read(200 * 3000, from: pipe)
        #expect(lines.map(\.utf8.count) == Array(repeating: 2999, count: 200))
    }

    @Test("A line that a full disk refuses is gone, and counted")
    func fullDisk() throws {
        let descriptor = open("/dev/full", O_WRONLY)
        defer { close(descriptor) }
        let writer = DescriptorWriter(descriptor: descriptor)
        writer.write(Self.line(0, of: 100))
        writer.write(Self.line(1, of: 10_000))
        writer.finish(within: .seconds(60))
        #expect(writer.lost == 2)
    }

    @Test("A line for nobody is gone, and keeps nobody")
    func nobody() throws {
        let pipe = Pipe()
        signal(SIGPIPE, SIG_IGN)
        try pipe.fileHandleForReading.close()
        let writer = DescriptorWriter(descriptor: pipe.fileHandleForWriting.fileDescriptor)
        for number in 0..<100 { writer.write(Self.line(number, of: 10_000)) }
        writer.finish(within: .seconds(60))
        writer.write(Self.line(0, of: 100))
        #expect(writer.lost == 101)
    }

    @Test("Lines of many threads stay whole")
    func threads() async {
        let pipe = Pipe()
        let writer = DescriptorWriter(descriptor: pipe.fileHandleForWriting.fileDescriptor)
        let line = Array((String(repeating: "x", count: 10_000) + "\n").utf8)
        // Threads of their own: both sides block, the task pool must not.
        for _ in 0..<5 {
            Thread.detachNewThread {
                for _ in 0..<10 { writer.write(line) }
            }
        }
        let read = await withCheckedContinuation { continuation in
            Thread.detachNewThread {
                // Exactly what is written: more would wait for an end that does not come.
                let data = try? pipe.fileHandleForReading.read(upToCount: 50 * line.count)
                continuation.resume(returning: data ?? Data())
            }
        }
        let lines = read.split(separator: UInt8(ascii: "\n"))
        #expect(lines.count == 50)
        #expect(lines.allSatisfy { $0.count == 10_000 })
    }
}
