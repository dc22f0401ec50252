import Glibc

/// Which file a path leads to, so that one deleted or replaced under its user is noticed.
///
/// A database file can be unlinked while it is open: SQLite then goes on writing where nobody will ever read. It is looked at
/// by `stat` alone: to open and close the file beside SQLite would end SQLite's locks on it ("How To Corrupt An SQLite
/// Database File", section 2.2).
struct FileIdentity: Hashable {
    private let device: UInt64
    private let node: UInt64

    /// - Throws: `.replaced` if nothing is there, `.sqlite` if the file system does not say.
    init(path: String) throws(StoreError) {
        var status = stat()
        guard stat(path, &status) == 0 else {
            let code = errno
            guard code == ENOENT || code == ENOTDIR else {
                throw .sqlite(code: 14, message: "cannot be looked up: \(String(cString: strerror(code)))")
            }
            throw .replaced("\(path) is gone")
        }
        device = UInt64(status.st_dev)
        node = UInt64(status.st_ino)
    }
}

/// The files of an open database that must stay where they are.
struct FileGuard {
    private let files: [(path: String, identity: FileIdentity)]

    /// Remembers the database and its write-ahead log as they are now.
    init(database path: String) throws(StoreError) {
        var files: [(path: String, identity: FileIdentity)] = []
        for path in [path, path + "-wal"] {
            files.append((path, try FileIdentity(path: path)))
        }
        self.files = files
    }

    /// Throws `.replaced` if one of the files was deleted or replaced.
    func check() throws(StoreError) {
        for file in files {
            guard try FileIdentity(path: file.path) == file.identity else {
                throw .replaced("\(file.path) was replaced while it was open")
            }
        }
    }
}
