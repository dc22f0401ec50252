import GRDB

extension LedgerError {
    /// What an error of SQLite's means to the caller. Statements and their values stay out of the text.
    init(_ error: any Error) {
        switch error {
        case let error as LedgerError:
            self = error
        case let error as DatabaseError:
            self.init(error)
        default:
            self = .damaged("unexpected error of type \(type(of: error))")
        }
    }

    private init(_ error: DatabaseError) {
        let text = "SQLite \(error.extendedResultCode.rawValue): \(error.message ?? "no message")"
        switch error.extendedResultCode {
        case .SQLITE_READONLY_DBMOVED:
            self = .damaged(text)
        case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_FULL, .SQLITE_IOERR, .SQLITE_READONLY, .SQLITE_NOMEM,
            .SQLITE_INTERRUPT, .SQLITE_PROTOCOL:
            self = .unavailable(text)
        case .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_AUTH:
            self = .unusable(text)
        default:
            // CORRUPT and NOTADB; and what only a schema that is not ours, or a fault of this program, can cause.
            self = .damaged(text)
        }
    }
}
