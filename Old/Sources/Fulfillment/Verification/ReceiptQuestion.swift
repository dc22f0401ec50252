import AppStore
import HTTPTransport
import Purchases

/// A receipt as verifyReceipt is asked about it: its text is kept once, within the body that is sent, however often that is.
struct ReceiptQuestion: Sendable {
    private let secret: SharedSecret?
    private let body: RequestBody
    /// What an answer about the receipt is known by.
    let mark: ReceiptMark

    /// - Parameter secret: the one that is tried first, which nearly always is the one that is needed.
    init(_ text: ReceiptText, secret: SharedSecret?, mark: ReceiptMark) {
        self.mark = mark
        self.secret = secret
        body = Self.body(text.base64, secret)
    }

    /// What is sent with a secret.
    func body(with secret: SharedSecret?) -> RequestBody {
        secret == self.secret ? body : Self.body(base64[...], secret)
    }

    /// The receipt's text, as a copy.
    var base64: [UInt8] { VerifyReceiptRequest.base64(in: body.bytes) }

    /// What the receipt holds, read anew; nothing if it cannot be read.
    var purchases: [ReceiptPurchase] {
        do throws(AppReceiptError) {
            return try AppReceipt.parse(base64: String(decoding: base64, as: UTF8.self)).purchases
        } catch {
            // It was read before it was sent, so this does not happen; then it says nothing.
            return []
        }
    }

    private static func body(_ base64: ArraySlice<UInt8>, _ secret: SharedSecret?) -> RequestBody {
        RequestBody(VerifyReceiptRequest(base64: base64, secret: secret).bodyParts)
    }
}
