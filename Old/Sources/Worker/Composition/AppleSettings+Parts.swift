import AppStore
import Fulfillment
import HTTPTransport

extension AppleSettings {
    /// How HTTPS connections to Apple are made.
    ///
    /// - Parameter maxConnections: as many as calls are in flight; nil for the transport's own limit.
    func transport(maxConnections: Int? = nil) -> HTTPTransportConfiguration {
        var http = HTTPTransportConfiguration()
        if let maxConnections { http.maxConnections = maxConnections }
        http.caFile = caFile
        http.connectTimeout = connectTimeout
        http.totalTimeout = timeout
        // Waiting for the first byte counts as slow, and Apple may take as long as the whole request may.
        http.minimumSpeedWindow = max(http.minimumSpeedWindow, timeout)
        http.maxResponseBytes = AppStoreReply.maxBytes
        return http
    }

    /// Apple's services over a transport.
    func endpoint(_ transport: HTTPTransport) -> AppleEndpoint {
        AppleEndpoint(
            transport: transport,
            production: AppleEndpoint.Hosts(
                verifyReceipt: verifyReceiptProductionURL, serverAPI: serverAPIProductionURL),
            sandbox: AppleEndpoint.Hosts(verifyReceipt: verifyReceiptSandboxURL, serverAPI: serverAPISandboxURL))
    }

    /// The configured roots, or Apple's.
    func trustedRoots() throws(ConfigurationError) -> TrustedRoots {
        var pem = TrustedRoots.applePEM
        if let rootCertificatesFile {
            pem = try TextFile.read(
                rootCertificatesFile, maxBytes: TrustedRoots.maxBytes, namedBy: .key(.appleRootCertificates))
        }
        do throws(TrustError) {
            return try TrustedRoots(pem: pem)
        } catch {
            throw .invalid(.appleRootCertificates, requirement: "a PEM file with root certificates. \(error.detail)")
        }
    }
}
