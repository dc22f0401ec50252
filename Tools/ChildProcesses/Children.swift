public import Glibc
import Synchronization

/// Starts programs as children of this process.
public enum Children {
    /// Other children must not inherit a pipe's ends, or a program would never see the end of its input. Glibc's call
    /// that makes them so at once is not visible to Swift, so none starts in between.
    private static let starting = Mutex(())

    /// Starts a program with only the named signals blocked, and those that end it not ignored. A child would inherit
    /// the mask of the thread that starts it, and what this process ignores, such as SIGINT of a shell's job in the
    /// background.
    /// - Parameters:
    ///   - words: The program, which is looked for in `PATH`, and its arguments.
    ///   - environment: All of its variables, such as `HOME=/root`.
    ///   - descriptors: Its own, by their numbers in this process; the others of the first three are this process's.
    ///   - blocked: Signals that wait until the program lets them in.
    /// - Returns: Nil if it cannot be started, with `errno`.
    public static func start(
        _ words: [String], environment: [String], descriptors: [(own: Int32, ours: Int32)], blocked: [Int32] = []
    ) -> pid_t? {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        for (own, ours) in descriptors { posix_spawn_file_actions_adddup2(&actions, ours, own) }
        var mask = sigset_t()
        sigemptyset(&mask)
        for signal in blocked { sigaddset(&mask, signal) }
        posix_spawnattr_setsigmask(&attributes, &mask)
        var taken = sigset_t()
        sigemptyset(&taken)
        for signal in [SIGINT, SIGTERM] { sigaddset(&taken, signal) }
        posix_spawnattr_setsigdefault(&attributes, &taken)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF))
        var pid = pid_t()
        let program = words.first ?? ""
        let result = starting.withLock { _ in
            withCStrings(words) { words in
                withCStrings(environment) { posix_spawnp(&pid, program, &actions, &attributes, words, $0) }
            }
        }
        errno = result
        return result == 0 ? pid : nil
    }

    /// A pipe that children inherit only where they are given an end of it.
    /// - Returns: Nil if it cannot be made, with `errno`.
    public static func pipe() -> (read: Int32, write: Int32)? {
        starting.withLock { _ in
            var ends: [Int32] = [-1, -1]
            guard Glibc.pipe(&ends) == 0 else { return nil }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            return (ends[0], ends[1])
        }
    }

    /// This process's environment, except some variables.
    public static func environment(without isLeftOut: (String) -> Bool) -> [String] {
        var variables: [String] = []
        var entry = environ
        while let text = entry.pointee {
            let variable = String(cString: text)
            if !isLeftOut(String(variable.prefix { $0 != "=" })) { variables.append(variable) }
            entry += 1
        }
        return variables
    }

    /// The exit code in what `waitpid` says; nil if a signal ended the program.
    public static func exitCode(_ status: Int32) -> Int32? { status & 0x7F == 0 ? status >> 8 & 0xFF : nil }

    /// Calls `body` with the strings as C's `argv`: pointers to each, and a null pointer at the end.
    private static func withCStrings<Result>(
        _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let pointers = strings.map { strdup($0) } + [nil]
        defer { pointers.forEach { free($0) } }
        return body(pointers)
    }
}
