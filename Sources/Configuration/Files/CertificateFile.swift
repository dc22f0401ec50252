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
