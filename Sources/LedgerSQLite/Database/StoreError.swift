import CSQLite
import Ledger

/// What goes wrong within a call, before it is known whose fault it is.
enum StoreError: Error {
    /// An extended result code of SQLite's (https://www.sqlite.org/rescode.html) and its own words.
    case sqlite(code: CInt, message: String)
    /// The file was deleted or replaced under its user.
    case replaced(String)
    /// A row that this program did not write so.
    case contradiction(String)

    /// Whether the database refuses a value: the same transaction without it can succeed.
    var isForData: Bool {
        guard case .sqlite(let code, _) = self else { return false }
        return switch code & 0xff {
        case SQLITE_CONSTRAINT, SQLITE_TOOBIG, SQLITE_MISMATCH, SQLITE_RANGE: true
        default: false
        }
    }

    var isBusy: Bool {
        guard case .sqlite(let code, _) = self else { return false }
        return code & 0xff == SQLITE_BUSY
    }

    /// What it means to the caller. All that may pass, by itself or because a person mends disk or rights under the worker,
    /// is `.unavailable`. Statements and their values stay out of the text.
    func error(at path: String) -> LedgerError {
        switch self {
        case .replaced(let detail): return .disconnected(detail: detail)
        case .contradiction(let detail): return .unusable(detail: "\(path): \(detail)")
        case .sqlite(let code, let message):
            let text = "\(path): \(message) (SQLite \(code))"
            if code == Self.moved { return .disconnected(detail: text) }
            switch code & 0xff {
            case SQLITE_BUSY, SQLITE_LOCKED, SQLITE_FULL, SQLITE_IOERR, SQLITE_READONLY, SQLITE_NOMEM,
                SQLITE_INTERRUPT, SQLITE_PROTOCOL, SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_AUTH:
                return .unavailable(detail: text)
            default:
                // CORRUPT and NOTADB; and what only a schema that is not ours, or a fault of this program, can cause.
                return .unusable(detail: text)
            }
        }
    }

    /// `SQLITE_READONLY_DBMOVED`, which is a macro of two parts that Swift does not see.
    private static let moved = SQLITE_READONLY | 4 << 8
}
