public import AppStore

/// The path of a PEM file with certificates. The file was there, and held at least one, when the settings were read.
public struct CertificateFile: Hashable, Sendable, CustomStringConvertible {
    public let path: String

    public var description: String { path }

    /// A system's whole bundle is about 220 KB.
    private static let maxBytes = 2 << 20

    static func read(_ path: String, namedBy place: ConfigurationError.Place) throws(ConfigurationError) -> Self {
        let text = try TextFile.read(path, maxBytes: maxBytes, namedBy: place)
        guard text.contains("-----BEGIN CERTIFICATE-----") else { throw .file(path, .noCertificate, namedBy: place) }
        return CertificateFile(path: path)
    }
}

/// The root certificates that signed data must chain to.
public struct RootCertificates: Sendable {
    /// Where they were read; nil for Apple's, which are built in.
    public let path: String?
    public let roots: TrustedRoots

    static func read(_ path: String, namedBy place: ConfigurationError.Place) throws(ConfigurationError) -> Self {
        let text = try TextFile.read(path, maxBytes: TrustedRoots.maxBytes, namedBy: place)
        do throws(TrustError) {
            return RootCertificates(path: path, roots: try TrustedRoots(pem: text))
        } catch {
            throw .file(path, .noRoots(detail: error.detail), namedBy: place)
        }
    }

    /// Apple's own.
    static func apple(namedBy place: ConfigurationError.Place) throws(ConfigurationError) -> Self {
        do throws(TrustError) {
            return RootCertificates(path: nil, roots: try .apple())
        } catch {
            throw .refused(place, requirement: "set: the built-in certificates are damaged")
        }
    }
}
