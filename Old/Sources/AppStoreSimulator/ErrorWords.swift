import Foundation
import NIOCore

/// Errors of other libraries in words for people.
enum ErrorWords {
    /// What the system or the library said, without the name of a type or of the function that was called.
    static func of(_ error: any Error) -> String {
        switch error {
        case let error as IOError: String(cString: strerror(error.errnoCode))
        case let error as CocoaError: error.localizedDescription
        default: "\(error)"
        }
    }
}

extension AuthorityError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .certificateRefused(let cause): "a certificate could not be made: \(cause)"
        case .noFolder(let folder):
            "there is no folder \(folder); simulate-app-store --authority-folder makes one"
        case .unreadable(let file):
            "\(file) of its folder is missing or cannot be read; delete the folder, and a new authority is made"
        case .withoutSignedData(let folder): "\(folder) is of an older version; delete it, and a new authority is made"
        case .unwritable(let folder): "\(folder) cannot be written"
        }
    }
}

extension ReceiptFactoryError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .tooLarge(let limit): "a receipt has at most \(limit) bytes"
        case .tooManyPurchases(let limit): "a receipt has at most \(limit) purchases"
        case .signingFailed(let cause): "it cannot be signed: \(cause)"
        }
    }
}

extension SignedDataError: CustomStringConvertible {
    public var description: String {
        switch self {
        case .signingFailed(let cause): "it cannot be signed: \(cause)"
        }
    }
}

extension DecodingError {
    /// Which member is wrong, and how.
    var words: String {
        switch self {
        case .keyNotFound(let key, let context): "\(Self.path(context, key)) is missing"
        case .valueNotFound(_, let context): "\(Self.path(context)) is null"
        case .typeMismatch(_, let context): "\(Self.path(context)) is of another type"
        case .dataCorrupted(let context): "\(Self.path(context)) is not valid"
        @unknown default: "it is not valid"
        }
    }

    private static func path(_ context: Context, _ key: (any CodingKey)? = nil) -> String {
        let keys = context.codingPath + (key.map { [$0] } ?? [])
        return keys.isEmpty ? "it" : keys.map { $0.intValue.map(String.init) ?? $0.stringValue }.joined(separator: ".")
    }
}
