/// The answer to a health request: passes only if every check does.
struct HealthReport: Hashable, Sendable {
    let checks: [HealthCheck]

    var passed: Bool { checks.allSatisfy(\.passed) }

    /// `{"status":"ok","checks":{"ledger":"ok"}}`, with `failing` for what does not pass. No hosts, no versions.
    var json: String {
        let members = checks.map { "\"\(Self.plain($0.name))\":\"\(Self.word($0.passed))\"" }
        return "{\"status\":\"\(Self.word(passed))\",\"checks\":{\(members.joined(separator: ","))}}\n"
    }

    private static func word(_ passed: Bool) -> String { passed ? "ok" : "failing" }

    /// Names are constants of letters, digits, `-` and `_`; anything else would need escapes and is left out.
    private static func plain(_ name: String) -> String {
        name.filter { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-" || $0 == "_") }
    }
}
