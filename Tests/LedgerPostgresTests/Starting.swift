import Ledger
import Testing

@testable import LedgerPostgres

/// How a worker's start with a URL fails; nil if it can begin.
func start(_ url: String, password: PasswordSource? = nil, demandsFsync: Bool = false) -> LedgerError? {
    do throws(LedgerError) {
        // Five seconds are not enough for the first byte of a server that hundreds of tests keep busy.
        let patience = url.contains("?") && !url.contains("connect_timeout") ? "&connect_timeout=180" : ""
        var configuration = try PostgresLedgerConfiguration(url: url + patience, password: password)
        configuration.settings = .forTests
        configuration.settings.demandsFsync = demandsFsync
        try PostgresLedger(configuration).checkRights(prunes: false)
        return nil
    } catch {
        return error
    }
}

/// Expects one line, without a password in it, and what becomes of the worker.
func expect(
    _ error: LedgerError?, _ line: String, ends: Bool, at location: SourceLocation = #_sourceLocation
) {
    #expect(error?.detail.contains(line) ?? line.isEmpty, "\(error?.detail ?? "it works")", sourceLocation: location)
    #expect(error?.word == (line.isEmpty ? nil : ends ? "unusable" : "unavailable"), sourceLocation: location)
    #expect(error?.detail.contains("\n") != true && error?.detail.contains("secret") != true, sourceLocation: location)
}
