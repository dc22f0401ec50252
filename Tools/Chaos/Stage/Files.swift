import Foundation
import Scheduling

func writeText(_ text: String, to path: String) throws(ChaosFailure) {
    guard let file = fopen(path, "w") else { throw ChaosFailure("cannot write \(path)") }
    fputs(text, file)
    fclose(file)
}

/// A file's text; nil if it cannot be opened.
func readText(_ path: String) -> String? {
    guard let file = fopen(path, "r") else { return nil }
    defer { fclose(file) }
    var text: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 1 << 16)
    while true {
        let count = fread(&part, 1, part.count, file)
        guard count > 0 else { return String(decoding: text, as: UTF8.self) }
        text += part.prefix(count)
    }
}

/// Looks again and again until something has come, or the time for it is over.
/// - Returns: whether it has come.
@discardableResult
func look(every milliseconds: Int, for limit: Duration, until isOver: () throws -> Bool) rethrows -> Bool {
    let deadline = Instant.now + limit
    while try !isOver() {
        guard Instant.now < deadline else { return false }
        rest(milliseconds: milliseconds)
    }
    return true
}

func rest(milliseconds: Int) {
    guard milliseconds > 0 else { return }
    var time = timespec(tv_sec: milliseconds / 1000, tv_nsec: milliseconds % 1000 * 1_000_000)
    nanosleep(&time, nil)
}

/// Waits until a moment; not at all if it has passed.
func rest(until moment: Instant) { rest(milliseconds: Int((moment - .now) / .milliseconds(1))) }

func seconds(since start: Instant) -> Int { Int((Instant.now - start).components.seconds) }

/// Writes a line at once, also where the output goes to a file.
func say(_ line: String) {
    print(line)
    fflush(nil)
}

/// Removes a folder with its content.
func removeFolder(_ path: String) { try? FileManager.default.removeItem(atPath: path) }
