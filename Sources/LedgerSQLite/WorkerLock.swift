import CSQLite
import Glibc
import Ledger
import Synchronization

/// The right to be the one worker of a ledger's file, until the process ends.
///
/// It is a lock on the file itself, `flock(2)`, so that every path to it counts: links, mounts, other containers of the
/// host. SQLite's own locks are of another kind (`fcntl`), and neither meets the other.
enum WorkerLock {
    /// The files that this process works for or waits for, by their identities. There is more than one only if the file
    /// was replaced.
    ///
    /// No descriptor is ever closed. A close would end SQLite's locks of all connections that this process has to the
    /// file ("How To Corrupt An SQLite Database File", section 2.2). A worker that waits has such connections for its
    /// read-only API. The last connection of another process would take itself for the only one. It would delete the
    /// write-ahead log and its index under them. An open descriptor also keeps its file's identity from being given to
    /// another file.
    private static let files = Mutex<[FileIdentity: File]>([:])

    private struct File {
        let descriptor: CInt
        var isHeld = false
    }

    /// Takes the lock, and makes an empty file where none is.
    /// - Returns: Words for the process that has it, such as "process 4711"; nil if it is this one.
    /// - Throws: `.unavailable` if the file cannot be opened or locked.
    static func take(path: String) throws(LedgerError) -> String? {
        try files.withLock { (files) throws(LedgerError) in
            let identity = try opened(path, &files)
            guard let file = files[identity], !file.isHeld else { return nil }
            if flock(file.descriptor, LOCK_EX | LOCK_NB) == 0 {
                files[identity]?.isHeld = true
                return nil
            }
            guard errno == EWOULDBLOCK else { throw failure(path) }
            return holder(of: identity)
        }
    }

    /// The identity of the path's file, which is opened unless it was before.
    private static func opened(
        _ path: String, _ files: inout [FileIdentity: File]
    ) throws(LedgerError) -> FileIdentity {
        if let known = try? FileIdentity(path: path), files[known] != nil { return known }
        // It holds players' evidence and is not for everybody. The user's mask narrows the mode, and SQLite gives its
        // other files the same.
        let descriptor = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o640)
        var status = stat()
        guard descriptor >= 0, fstat(descriptor, &status) == 0 else { throw failure(path) }
        let identity = FileIdentity(status)
        // A file that came to the path just now may be known. Its former descriptor may have the lock.
        if files[identity] == nil { files[identity] = File(descriptor: descriptor) }
        return identity
    }

    private static func failure(_ path: String) -> LedgerError {
        .unavailable(detail: "\(path): \(String(cString: strerror(errno)))")
    }

    /// How often the kernel's list is looked through. The list comes in pieces. Locks that come and go between two
    /// pieces shift the rest, so a line may be missing.
    private static let mostLooks = 8

    private static func holder(of file: FileIdentity) -> String {
        for _ in 0..<mostLooks {
            if let process = process(thatLocks: file) { return "process \(process)" }
        }
        return "a process that this one cannot see, such as one in another container"
    }

    /// The process that the kernel names (proc_locks(5)). It names none of another container.
    private static func process(thatLocks file: FileIdentity) -> Int? {
        guard let list = fopen("/proc/locks", "r") else { return nil }
        defer { fclose(list) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, CInt(line.count), list) != nil {
            // "1: FLOCK  ADVISORY  WRITE 4711 fe:00:131 0 EOF": number, kind, process, device and inode.
            let text = line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
            let words = String(decoding: text, as: UTF8.self).split(separator: " ")
            guard words.count > 5, words[1] == "FLOCK", words[5].hasSuffix(":\(file.node)"),
                let process = Int(words[4]), process > 0
            else { continue }
            return process
        }
        return nil
    }
}
