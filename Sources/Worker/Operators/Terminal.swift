import Foundation

/// The terminal on standard output.
enum Terminal {
    /// Characters per line; nil if standard output is no terminal or does not tell, so that nothing is cut.
    static func width() -> Int? {
        guard isatty(STDOUT_FILENO) == 1 else { return nil }
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return nil }
        return Int(size.ws_col)
    }
}
