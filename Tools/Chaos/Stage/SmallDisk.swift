import Glibc

/// A file system of its own in memory, which is soon full. Only root can make one.
struct SmallDisk: Sendable {
    let folder: String
    private var ballast: String { folder + "/ballast" }

    static var canBeMade: Bool { geteuid() == 0 }

    /// Starts this program anew so that its mounts show in it and its children only, and go with the last of them.
    static func keepMountsPrivate() throws(ChaosFailure) {
        guard canBeMade, getenv(mark) == nil else { return }
        setenv(mark, "yes", 1)
        let words = ["unshare", "--mount", "--propagation", "private"] + CommandLine.arguments
        execv("/usr/bin/unshare", words.map { strdup($0) } + [nil])
        throw ChaosFailure("cannot start unshare: errno \(errno)")
    }

    private static let mark = "GRANTOR_CHAOS_HAS_OWN_MOUNTS"

    /// - Parameter folder: A folder to be made.
    init(_ folder: String, megabytes: Int) throws(ChaosFailure) {
        self.folder = folder
        guard mkdir(folder, 0o755) == 0, mount("none", folder, "tmpfs", 0, "mode=1777,size=\(megabytes)m") == 0 else {
            throw ChaosFailure("no file system in \(folder): errno \(errno)")
        }
    }

    /// Takes all room that there is left.
    func fill() {
        // A worker that is started meanwhile must not inherit it: it would keep the room.
        let file = open(ballast, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        defer { close(file) }
        for size in [1 << 20, 4096] {
            let part = [UInt8](repeating: 0, count: size)
            while write(file, part, size) == size {}
        }
    }

    /// Gives the room back.
    func free() { unlink(ballast) }

    func remove() { umount2(folder, Int32(MNT_DETACH)) }
}
