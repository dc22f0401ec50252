import Cryptography

/// The certificates that everything Apple signs must chain to. The system's store plays no part.
public struct TrustedRoots: Sendable {
    /// Largest PEM text that is read, in bytes.
    public static let maxBytes = 64 << 10
    static let maxCount = 16

    let certificates: [Certificate]

    init(certificates: [Certificate]) { self.certificates = certificates }

    /// - Throws: `unreadable` if a certificate in this program is damaged.
    public static func apple() throws(TrustError) -> TrustedRoots { try TrustedRoots(pem: applePEM) }

    /// Apple's own roots in PEM: those that StoreKit 2 transactions and App Store receipts chain to.
    public static var applePEM: String { appleRootCAG3 + appleRootCA }

    /// Whether both of Apple's own roots are among them.
    public var haveAppleRoots: Bool {
        guard let apples = try? Self.apple() else { return false }
        return apples.certificates.allSatisfy { apple in certificates.contains { $0.der == apple.der } }
    }

    /// Whether this host's OpenSSL cannot check signatures over SHA-1, which receipts from before 2025 have. Apple Root
    /// CA has signed itself so.
    public static var lacksSHA1: Bool {
        guard let root = try? Certificate.certificates(pem: appleRootCA).first else { return false }
        return root.answer(signedBy: root.publicKey) == .unchecked
    }

    /// Reads one or more certificates from PEM text.
    /// - Throws: `tooLarge`, `empty`, `unreadable`, `noAuthority`.
    public init(pem: String) throws(TrustError) {
        guard pem.utf8.count <= Self.maxBytes else { throw .tooLarge }
        let certificates: [Certificate]
        do throws(CertificateUnreadable) {
            certificates = try Certificate.certificates(pem: pem)
        } catch {
            throw .unreadable
        }
        guard !certificates.isEmpty else { throw .empty }
        guard certificates.count <= Self.maxCount else { throw .tooLarge }
        guard certificates.allSatisfy({ $0.isAuthority(over: 1) && $0.allows(.keyCertSign) }) else {
            throw .noAuthority
        }
        self.certificates = certificates
    }

    /// Apple Root CA - G3, valid from 2014-04-30 to 2039-04-30, SHA-256 fingerprint
    /// 63343abfb89a6a03ebb57e9b3f5fa7be7c4f5c756f3017b3a8c488c3653e9179. StoreKit 2 transactions chain to it
    /// ([Apple PKI](https://www.apple.com/certificateauthority/)).
    static let appleRootCAG3 = """
        -----BEGIN CERTIFICATE-----
        MIICQzCCAcmgAwIBAgIILcX8iNLFS5UwCgYIKoZIzj0EAwMwZzEbMBkGA1UEAwwS
        QXBwbGUgUm9vdCBDQSAtIEczMSYwJAYDVQQLDB1BcHBsZSBDZXJ0aWZpY2F0aW9u
        IEF1dGhvcml0eTETMBEGA1UECgwKQXBwbGUgSW5jLjELMAkGA1UEBhMCVVMwHhcN
        MTQwNDMwMTgxOTA2WhcNMzkwNDMwMTgxOTA2WjBnMRswGQYDVQQDDBJBcHBsZSBS
        b290IENBIC0gRzMxJjAkBgNVBAsMHUFwcGxlIENlcnRpZmljYXRpb24gQXV0aG9y
        aXR5MRMwEQYDVQQKDApBcHBsZSBJbmMuMQswCQYDVQQGEwJVUzB2MBAGByqGSM49
        AgEGBSuBBAAiA2IABJjpLz1AcqTtkyJygRMc3RCV8cWjTnHcFBbZDuWmBSp3ZHtf
        TjjTuxxEtX/1H7YyYl3J6YRbTzBPEVoA/VhYDKX1DyxNB0cTddqXl5dvMVztK517
        IDvYuVTZXpmkOlEKMaNCMEAwHQYDVR0OBBYEFLuw3qFYM4iapIqZ3r6966/ayySr
        MA8GA1UdEwEB/wQFMAMBAf8wDgYDVR0PAQH/BAQDAgEGMAoGCCqGSM49BAMDA2gA
        MGUCMQCD6cHEFl4aXTQY2e3v9GwOAEZLuN+yRhHFD/3meoyhpmvOwgPUnPWTxnS4
        at+qIxUCMG1mihDK1A3UT82NQz60imOlM27jbdoXt2QfyFMm+YhidDkLF1vLUagM
        6BgD56KyKA==
        -----END CERTIFICATE-----

        """

    /// Apple Root CA ("Apple Inc. Root"), valid from 2006-04-25 to 2035-02-09, SHA-256 fingerprint
    /// b0b1730ecbc7ff4505142c49f1295e6eda6bcaed7e2c68c5be91b5a11001f024. App Store receipts chain to it
    /// ([Apple PKI](https://www.apple.com/certificateauthority/)).
    static let appleRootCA = """
        -----BEGIN CERTIFICATE-----
        MIIEuzCCA6OgAwIBAgIBAjANBgkqhkiG9w0BAQUFADBiMQswCQYDVQQGEwJVUzET
        MBEGA1UEChMKQXBwbGUgSW5jLjEmMCQGA1UECxMdQXBwbGUgQ2VydGlmaWNhdGlv
        biBBdXRob3JpdHkxFjAUBgNVBAMTDUFwcGxlIFJvb3QgQ0EwHhcNMDYwNDI1MjE0
        MDM2WhcNMzUwMjA5MjE0MDM2WjBiMQswCQYDVQQGEwJVUzETMBEGA1UEChMKQXBw
        bGUgSW5jLjEmMCQGA1UECxMdQXBwbGUgQ2VydGlmaWNhdGlvbiBBdXRob3JpdHkx
        FjAUBgNVBAMTDUFwcGxlIFJvb3QgQ0EwggEiMA0GCSqGSIb3DQEBAQUAA4IBDwAw
        ggEKAoIBAQDkkakJH5HbHkdQ6wXtXnmELes2oldMVeyLGYne+Uts9QerIjAC6Bg+
        +FAJ039BqJj50cpmnCRrEdCju+QbKsMflZ56DKRHi1vUFjczy8QPTc4UadHJGXL1
        XQ7Vf1+b8iUDulWPTV0N8WQ1IxVLFVkds5T39pyez1C6wVhQZ48ItCD3y6wsIG9w
        tj8BMIy3Q88PnT3zK0koGsj+zrW5DtleHNbLPbU6rfQPDgCSC7EhFi501TwN22IW
        q6NxkkdTVcGvL0Gz+PvjcM3mo0xFfh9Ma1CWQYnEdGILEINBhzOKgbEwWOxaBDKM
        aLOPHd5lc/9nXmW8Sdh2nzMUZaF3lMktAgMBAAGjggF6MIIBdjAOBgNVHQ8BAf8E
        BAMCAQYwDwYDVR0TAQH/BAUwAwEB/zAdBgNVHQ4EFgQUK9BpR5R2Cf70a40uQKb3
        R01/CF4wHwYDVR0jBBgwFoAUK9BpR5R2Cf70a40uQKb3R01/CF4wggERBgNVHSAE
        ggEIMIIBBDCCAQAGCSqGSIb3Y2QFATCB8jAqBggrBgEFBQcCARYeaHR0cHM6Ly93
        d3cuYXBwbGUuY29tL2FwcGxlY2EvMIHDBggrBgEFBQcCAjCBthqBs1JlbGlhbmNl
        IG9uIHRoaXMgY2VydGlmaWNhdGUgYnkgYW55IHBhcnR5IGFzc3VtZXMgYWNjZXB0
        YW5jZSBvZiB0aGUgdGhlbiBhcHBsaWNhYmxlIHN0YW5kYXJkIHRlcm1zIGFuZCBj
        b25kaXRpb25zIG9mIHVzZSwgY2VydGlmaWNhdGUgcG9saWN5IGFuZCBjZXJ0aWZp
        Y2F0aW9uIHByYWN0aWNlIHN0YXRlbWVudHMuMA0GCSqGSIb3DQEBBQUAA4IBAQBc
        NplMLXi37Yyb3PN3m/J20ncwT8EfhYOFG5k9RzfyqZtAjizUsZAS2L70c5vu0mQP
        y3lPNNiiPvl4/2vIB+x9OYOLUyDTOMSxv5pPCmv/K/xZpwUJfBdAVhEedNO3iyM7
        R6PVbyTi69G3cN8PReEnyvFteO3ntRcXqNx+IjXKJdXZD9Zr1KIkIxH3oayPc4Fg
        xhtbCS+SsvhESPBgOJ4V9T0mZyCKM2r3DYLP3uujL/lTaltkwGMzd/c6ByxW69oP
        IQ7aunMZT7XZNn/Bh1XZp5m5MkL72NVxnn6hUrcbvZNCJBIqxw8dtk2cXmPIS4AX
        UKqK1drk/NAJBzewdXUh
        -----END CERTIFICATE-----

        """
}

/// Why certificates cannot be trusted roots: the configuration names the wrong file.
public enum TrustError: String, Error, Hashable, Sendable, CaseIterable {
    /// More than ``TrustedRoots/maxBytes``, or more than ``TrustedRoots/maxCount`` certificates.
    case tooLarge = "It is larger, or holds more certificates, than a list of roots can need."
    case empty = "It holds no certificate."
    case unreadable = "It is no PEM, or a certificate in it cannot be read."
    case noAuthority = "A certificate in it is none of an authority."

    public var detail: String { rawValue }
}
