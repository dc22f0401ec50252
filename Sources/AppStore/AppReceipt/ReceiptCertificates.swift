/// The certificates that a receipt carries, read no further than it takes to find the signer's and its issuer's
/// (RFC 5280, section 4.1). Whether they are worth anything is not decided here.
struct ReceiptCertificates {
    /// Most certificates that a receipt may carry; Apple's have three.
    static let maxCount = 8

    /// One certificate, as it came.
    struct Entry {
        let der: ArraySlice<UInt8>
        /// The integer's bytes, without leading zeros, which encoders write differently.
        let serialNumber: ArraySlice<UInt8>
        /// Names as they are encoded. A signer's name is a copy of its certificate's, so nothing is lost by comparing
        /// bytes.
        let issuer: ArraySlice<UInt8>
        let subject: ArraySlice<UInt8>
    }

    private let entries: [Entry]

    /// Reads the `[0]` of an envelope; nil if it is missing, or one of the certificates is too large or is none, or they
    /// are too many.
    init?(_ bytes: ArraySlice<UInt8>?) {
        guard let bytes, let values = BERValue(bytes.span)?.children(BERValue.contextTag0, in: bytes.span),
            values.count <= Self.maxCount
        else { return nil }
        var entries: [Entry] = []
        for value in values {
            guard value.encoded.count <= ChainVerifier.maxCertificateBytes, let entry = Entry(value, in: bytes) else {
                return nil
            }
            entries.append(entry)
        }
        self.entries = entries
    }

    /// The certificate that a signer names by its issuer and serial number.
    func certificate(of signer: SignerInfo) -> Entry? {
        entries.first { $0.serialNumber == signer.serialNumber && $0.issuer == signer.issuer }
    }

    /// The certificates of all that may have issued another; several where an authority was renewed under its name.
    func issuers(of entry: Entry) -> [Entry] {
        entries.filter { $0.subject == entry.issuer }
    }
}

extension ReceiptCertificates.Entry {
    /// Reads `SEQUENCE { SEQUENCE { [0] version, serial number, algorithm, issuer, validity, subject, ... }, ... }`.
    fileprivate init?(_ value: BERValue, in bytes: ArraySlice<UInt8>) {
        let span = bytes.span
        guard let parts = value.children(BERValue.sequence, in: span), parts.count == 3,
            var fields = parts[0].children(BERValue.sequence, in: span)?[...]
        else { return nil }
        if fields.first?.identifier == BERValue.contextTag0 { fields = fields.dropFirst() }
        guard let serialNumber = fields.popFirst()?.unsignedInteger(in: bytes), fields.popFirst() != nil,
            let issuer = fields.popFirst(), fields.popFirst() != nil, let subject = fields.popFirst()
        else { return nil }
        der = bytes.slice(value.encoded)
        self.serialNumber = serialNumber
        self.issuer = bytes.slice(issuer.encoded)
        self.subject = bytes.slice(subject.encoded)
    }
}
