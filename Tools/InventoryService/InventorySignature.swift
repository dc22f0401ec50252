import Contract
import Cryptography

/// The signature of a call, as a service checks it: by the documentation, and without the caller's code.
struct InventorySignature {
    /// A call may be so much older or younger than the service's clock.
    private static let tolerance: Int64 = 300

    private let at: Int64?
    private let codes: [String]

    init(_ header: String) {
        var (at, codes): (Int64?, [String]) = (nil, [])
        for part in header.split(separator: ",") {
            if part.hasPrefix("t=") { at = Int64(part.dropFirst(2)) }
            if part.hasPrefix("v1=") { codes.append(String(part.dropFirst(3))) }
        }
        (self.at, self.codes) = (at, codes)
    }

    /// Whether one of the secrets has signed a body.
    func isGenuine(_ body: [UInt8], by secrets: [String], at now: Timestamp) -> Bool {
        guard let at, abs(now.milliseconds / 1000 - at) <= Self.tolerance else { return false }
        let signed = Array("\(at).".utf8) + body
        return secrets.contains { codes.contains(HMACSHA256(key: $0.utf8).code(of: signed).hex) }
    }
}
