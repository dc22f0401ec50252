import Glibc

/// The terminal on standard output.
enum Terminal {
    /// Characters per line; nil if standard output is no terminal or does not tell, so that nothing is cut.
    static func width(environment: [String: String]) -> Int? {
        var size = winsize()
        let isKnown = ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0
        return width(
            isTerminal: isatty(STDOUT_FILENO) == 1, columns: environment["COLUMNS"],
            reported: isKnown ? Int(size.ws_col) : nil)
    }

    /// - Parameters:
    ///   - columns: the variable `COLUMNS`, by which POSIX lets a user overrule the terminal.
    ///   - reported: the terminal's own word; 0 if it does not know.
    static func width(isTerminal: Bool, columns: String?, reported: Int?) -> Int? {
        guard isTerminal else { return nil }
        return [columns.flatMap { Int($0) }, reported].compactMap { $0 }.first { $0 > 0 }
    }
}
