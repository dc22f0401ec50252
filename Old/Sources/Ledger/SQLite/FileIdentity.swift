import Foundation

/// Which file a path leads to, so that one deleted or replaced under its user is noticed.
///
/// A database file can be unlinked while it is open: SQLite then goes on writing where nobody will ever read.
struct FileIdentity: Hashable, Sendable {
    private let device: UInt64
    private let node: UInt64

    /// Looks the path up; one system call.
    ///
    /// - Throws: `.damaged` if nothing is there, `.unavailable` if the file system does not say.
    init(path: String) throws(LedgerError) {
        var status = stat()
        guard stat(path, &status) == 0 else {
            let code = errno
            guard code == ENOENT || code == ENOTDIR else {
                throw .unavailable("\(path) cannot be looked up: \(String(cString: strerror(code)))")
            }
            throw .damaged("\(path) is gone")
        }
        device = UInt64(status.st_dev)
        node = UInt64(status.st_ino)
    }
}

/// The files of an open database that must stay where they are.
struct FileGuard: Sendable {
    private let files: [(path: String, identity: FileIdentity)]

    /// Remembers the database and its write-ahead log as they are now.
    init(database path: String) throws(LedgerError) {
        var files: [(path: String, identity: FileIdentity)] = []
        for path in [path, path + "-wal"] {
            files.append((path, try FileIdentity(path: path)))
        }
        self.files = files
    }

    /// Throws `.damaged` if one of the files was deleted or replaced.
    func check() throws(LedgerError) {
        for file in files {
            guard try FileIdentity(path: file.path) == file.identity else {
                throw .damaged("\(file.path) was replaced while it was open")
            }
        }
    }
}
