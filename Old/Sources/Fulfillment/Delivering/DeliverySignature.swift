import Crypto
import Purchases

/// Shows an inventory service that a call is ours, and when it was made.
enum DeliverySignature {
    static let header = "Grantor-Signature"

    /// `t=<UNIX seconds>,v1=<hex>`, with one `v1` for each secret: HMAC-SHA256 over the seconds, a full stop and the body.
    static func value(of body: [UInt8], at now: Timestamp, by secrets: [SigningSecret]) -> String {
        let seconds = now.milliseconds / 1000
        let text = Array("\(seconds).".utf8) + body
        return "t=\(seconds)" + secrets.map { ",v1=" + mac(of: text, by: $0) }.joined()
    }

    private static func mac(of text: [UInt8], by secret: SigningSecret) -> String {
        HMAC<SHA256>.authenticationCode(for: text, using: SymmetricKey(data: secret.bytes))
            .map { byte in
                let digits = String(byte, radix: 16)
                return byte < 0x10 ? "0" + digits : digits
            }.joined()
    }
}
