import GRDB

/// A SQLite database that is somebody else's, found by a new connection.
struct ForeignDatabase: Error {}

extension LedgerError {
    /// What an error of SQLite's means to the caller of an open ledger: all that may pass, by itself or because a person
    /// mends disk or rights under the worker, is `.unavailable`. Statements and their values stay out of the text.
    init(_ error: any Error, at path: String) {
        switch error {
        case let error as LedgerError:
            self = error
        case let error as DatabaseError:
            self.init(error, at: path)
        case is ForeignDatabase:
            self = .damaged("\(path) is no longer a ledger")
        default:
            self = .damaged("\(path): unexpected error of type \(type(of: error))")
        }
    }

    /// What an error means at opening: what a person has to set right is said at once.
    init(opening error: any Error, at path: String) {
        if error is ForeignDatabase {
            self = .unusable("\(path) is a SQLite database, but not a ledger")
            return
        }
        guard let error = error as? DatabaseError else {
            self.init(error, at: path)
            return
        }
        switch error.extendedResultCode {
        case .SQLITE_NOTADB:
            self = .unusable("\(path) is not a ledger")
        case .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_AUTH, .SQLITE_READONLY:
            self = .unusable(
                Self.text(error, path) + "; this user must be able to write the file, and to make files beside it")
        default:
            self.init(error, at: path)
        }
    }

    private init(_ error: DatabaseError, at path: String) {
        let text = Self.text(error, path)
        switch error.extendedResultCode {
        case .SQLITE_READONLY_DBMOVED:
            self = .damaged(text)
        case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_FULL, .SQLITE_IOERR, .SQLITE_READONLY, .SQLITE_NOMEM,
            .SQLITE_INTERRUPT, .SQLITE_PROTOCOL, .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_AUTH:
            self = .unavailable(text)
        default:
            // CORRUPT and NOTADB; and what only a schema that is not ours, or a fault of this program, can cause.
            self = .damaged(text)
        }
    }

    /// The file, and SQLite's own words.
    private static func text(_ error: DatabaseError, _ path: String) -> String {
        "\(path): \(error.message ?? "no message") (SQLite \(error.extendedResultCode.rawValue))"
    }
}
