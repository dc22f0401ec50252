internal import CLibpq
import Foundation

/// Finds in libpq's settings what no server could mend, before one is asked. For the first connection, whose mistakes are
/// told to a person at once; later ones go on trying, because files may just be being changed.
struct PostgresSettings {
    /// A password file; they have a line for each server.
    private static let maxPasswordBytes = 64 << 10

    let options: PostgresOptions

    /// Throws `.misconfigured` if a setting has a value that libpq does not take, or names a file that cannot be used.
    func check() throws(PostgresFailure) {
        if let problem = refusedSetting {
            throw .misconfigured("libpq does not take the ledger's settings: \(problem)")
        }
        // libpq looks into the file only where no password is given.
        if options.setting("password") == nil, let file = options.setting("passfile"),
            let problem = passwordProblem(file)
        {
            throw .misconfigured("the password file \(file) \(problem)")
        }
        if options.setting("sslmode")?.hasPrefix("verify") == true, let file = options.setting("sslrootcert"),
            file != "system", access(file, R_OK) != 0
        {
            throw .misconfigured("the certificates of sslrootcert, \(file), cannot be read: \(Self.reason)")
        }
    }

    /// What libpq says of the settings before it looks for a server; nil if it takes them.
    private var refusedSetting: String? {
        let nowhere = options.leadingNowhere()
        // The one answer that tells refused settings from a server that is not there.
        guard nowhere.withKeywordsAndValues({ PQpingParams($0, $1, 0) }) == PQPING_NO_ATTEMPT else { return nil }
        let connection = nowhere.withKeywordsAndValues { PQconnectStartParams($0, $1, 0) }
        defer { PQfinish(connection) }
        return Self.withoutValues(PQerrorMessage(connection).map { String(cString: $0).firstLine } ?? "no message")
    }

    /// A password with an `@`, `:` or `/` in it that is not encoded ends up in other parts of the URL, so no value is shown.
    static func withoutValues(_ text: String) -> String {
        text.replacing(/"[^"]*"/) { PostgresOptions.names.contains($0.output.dropFirst().dropLast()) ? $0.output : "…" }
    }

    /// Why libpq will not take a password from the file; nil if it may.
    private func passwordProblem(_ path: String) -> String? {
        // How one says that there is none.
        guard path != "/dev/null" else { return nil }
        var status = stat()
        guard stat(path, &status) == 0, access(path, R_OK) == 0 else { return "cannot be read: \(Self.reason)" }
        guard status.st_mode & S_IFMT == S_IFREG else { return "is not a file" }
        guard status.st_mode & 0o077 == 0 else {
            return "may be read by others, and is left aside by libpq for that; its mode must be 0600"
        }
        guard let file = FileHandle(forReadingAtPath: path),
            let text = try? file.read(upToCount: Self.maxPasswordBytes) ?? Data()
        else { return "cannot be read" }
        guard !text.starts(with: [0xEF, 0xBB, 0xBF]) else { return "begins with a byte order mark" }
        guard !text.contains(0) else { return "has NUL bytes in it" }
        let hasLine = text.split(separator: UInt8(ascii: "\n")).contains { line in
            !line.starts(with: [UInt8(ascii: "#")]) && line.contains { $0 > UInt8(ascii: " ") }
        }
        return hasLine ? nil : "holds no password"
    }

    private static var reason: String { String(cString: strerror(errno)) }
}
