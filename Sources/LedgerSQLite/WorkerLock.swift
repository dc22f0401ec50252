import CSQLite
import Glibc
import Ledger
import Synchronization

/// The right to be the one worker of a ledger's file, until the process ends.
///
/// It is a lock on the file itself, `flock(2)`, so that every path to it counts: links, mounts, other containers of the
/// host. SQLite's own locks are of another kind (`fcntl`), and neither meets the other.
enum WorkerLock {
    /// The files that this process works for. Their descriptors stay open: closing one would end SQLite's locks on the
    /// file ("How To Corrupt An SQLite Database File", section 2.2). A process has more than one only if its file was
    /// replaced.
    private static let held = Mutex<Set<FileIdentity>>([])

    /// Takes the lock, and makes an empty file where none is.
    /// - Returns: Words for the process that has it, such as "process 4711"; nil if it is this one.
    /// - Throws: `.unavailable` if the file cannot be opened or locked.
    static func take(path: String) throws(LedgerError) -> String? {
        try held.withLock { (held) throws(LedgerError) in
            if let known = try? FileIdentity(path: path), held.contains(known) { return nil }
            // The mode that SQLite gives a file; the user's mask narrows it.
            let file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o644)
            guard file >= 0 else { throw failure(path) }
            var status = stat()
            guard fstat(file, &status) == 0, flock(file, LOCK_EX | LOCK_NB) == 0 else {
                // Nothing of this process has the file open: it works for none yet.
                defer { close(file) }
                guard errno == EWOULDBLOCK else { throw failure(path) }
                return holder(of: status)
            }
            held.insert(FileIdentity(status))
            return nil
        }
    }

    private static func failure(_ path: String) -> LedgerError {
        .unavailable(detail: "\(path): \(String(cString: strerror(errno)))")
    }

    /// How often the kernel's list is looked through. The list comes in pieces. Locks that come and go between two
    /// pieces shift the rest, so a line may be missing.
    private static let mostLooks = 8

    private static func holder(of file: stat) -> String {
        for _ in 0..<mostLooks {
            if let process = process(thatLocks: file) { return "process \(process)" }
        }
        return "a process that this one cannot see, such as one in another container"
    }

    /// The process that the kernel names (proc_locks(5)). It names none of another container.
    private static func process(thatLocks file: stat) -> Int? {
        guard let list = fopen("/proc/locks", "r") else { return nil }
        defer { fclose(list) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, CInt(line.count), list) != nil {
            // "1: FLOCK  ADVISORY  WRITE 4711 fe:00:131 0 EOF": number, kind, process, device and inode.
            let text = line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            let words = String(decoding: text, as: UTF8.self).split(separator: " ")
            guard words.count > 5, words[1] == "FLOCK", words[5].hasSuffix(":\(file.st_ino)"),
                let process = Int(words[4]), process > 0
            else { continue }
            return process
        }
        return nil
    }
}
