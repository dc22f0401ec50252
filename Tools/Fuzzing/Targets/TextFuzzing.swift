internal import Configuration
internal import Contract
internal import Cryptography

/// Rules of small readers: a text that they read they write the same, and a text that they refuse they refuse again.
enum TextFuzzing {
    static func json(_ bytes: [UInt8]) throws(BrokenRule) {
        guard let object = try? StrictJSON(bytes) else { return }
        let names = object.members.names
        guard Set(names.map { Array($0.utf8) }).count == names.count else {
            throw BrokenRule("a member stands twice")
        }
        for name in names {
            guard let value = object.members[name] else { throw BrokenRule("a member that is there has no value") }
            let text = object.members.bytes(of: name)
            if case .string(let string) = value {
                guard let text, string == String(decoding: text, as: UTF8.self) else {
                    throw BrokenRule("a text is read in two ways")
                }
            } else if text != nil {
                throw BrokenRule("something else is read as a text")
            }
        }
    }

    static func durations(_ bytes: [UInt8]) throws(BrokenRule) {
        let text = String(decoding: bytes, as: UTF8.self)
        if let duration = DurationText.parse(text) {
            guard duration >= .zero, DurationText.parse(DurationText.format(duration)) == duration else {
                throw BrokenRule("a duration is not what it was written as")
            }
        }
        if let size = ByteCountText.parse(text) {
            guard size >= 0, ByteCountText.parse(ByteCountText.format(size)) == size else {
                throw BrokenRule("a size is not what it was written as")
            }
        }
    }

    static func certificates(_ bytes: [UInt8]) throws(BrokenRule) {
        let digest = SHA256.hash("text".utf8)
        if let certificate = try? Certificate(der: bytes) {
            guard certificate.der == bytes else { throw BrokenRule("a certificate is not its bytes") }
            _ = certificate.isSigned(by: certificate.publicKey)
            guard !certificate.publicKey.isValidECDSASignature(der: bytes, of: digest) else {
                throw BrokenRule("a signature holds that nobody made")
            }
        }
        let text = String(decoding: bytes, as: UTF8.self)
        _ = try? Certificate.certificates(pem: text)
        if let key = PublicKey(pem: text), key.isValidES256Signature([UInt8](repeating: 1, count: 64), of: digest) {
            throw BrokenRule("a signature holds that nobody made")
        }
        if let key = try? PrivateKey(p256PEM: text), let signature = key.es256Signature(of: digest) {
            guard key.publicKey.isValidES256Signature(signature, of: digest) else {
                throw BrokenRule("a key does not confirm its own signature")
            }
        }
    }
}
