import AppStore
import HTTPTransport

/// A receipt as verifyReceipt is asked about it: its text is kept once, within the body that is sent, however often that is.
struct ReceiptQuestion: Sendable {
    private let secret: SharedSecret?
    private let body: RequestBody

    /// - Parameter secret: the one that is tried first, which nearly always is the one that is needed.
    init(_ text: ReceiptText, secret: SharedSecret?) {
        self.secret = secret
        body = Self.body(text.base64, secret)
    }

    /// What is sent with a secret.
    func body(with secret: SharedSecret?) -> RequestBody {
        secret == self.secret ? body : Self.body(base64[...], secret)
    }

    /// The receipt's text, as a copy.
    var base64: [UInt8] { VerifyReceiptRequest.base64(in: body.bytes) }

    private static func body(_ base64: ArraySlice<UInt8>, _ secret: SharedSecret?) -> RequestBody {
        RequestBody(VerifyReceiptRequest(base64: base64, secret: secret).bodyParts)
    }
}
