/// Why an authority cannot be had. Each says what to do about it.
public enum AuthorityError: Error, Hashable, CustomStringConvertible {
    /// A key or certificate could not be made or written as text: a fault of the cryptographic library; report it.
    case certificateRefused(String)
    /// There is no such folder: name the folder in which a simulator keeps its authority.
    case noFolder(String)
    /// A file of the folder is missing or unreadable: delete the folder and let a new authority be made.
    case unreadable(file: String)
    /// The folder cannot be written: choose another or mend its permissions.
    case unwritable(folder: String)

    public var description: String {
        switch self {
        case .certificateRefused(let what): "OpenSSL made no \(what)"
        case .noFolder(let folder): "there is no folder \(folder); a simulator makes one"
        case .unreadable(let file):
            "\(file) of its folder is missing or cannot be read; delete the folder, and a new authority is made"
        case .unwritable(let folder): "\(folder) cannot be written"
        }
    }
}
