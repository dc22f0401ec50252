/// How Apple is reached.
struct AppleSettings: Hashable, Sendable {
    /// The whole URL.
    var verifyReceiptProductionURL = "https://buy.itunes.apple.com/verifyReceipt"
    /// The whole URL.
    var verifyReceiptSandboxURL = "https://sandbox.itunes.apple.com/verifyReceipt"
    /// PEM file of the authorities that TLS connections are checked against; nil for the system's.
    var caFile: String?
    /// For looking up the name, TCP and TLS together.
    var connectTimeout = Duration.seconds(3)
    /// For a whole request, connecting included; never shorter than ``connectTimeout``.
    var timeout = Duration.seconds(20)
    /// The App Store Server API's base, without `/inApps`. The hosts are those that Apple recommends since 2026-05-05; the
    /// older ones, of itunes.apple.com, answer alike.
    var serverAPIProductionURL = "https://api.storekit.apple.com"
    /// As ``serverAPIProductionURL``, of the sandbox.
    var serverAPISandboxURL = "https://api.storekit-sandbox.apple.com"
    /// PEM file of the root certificates that signed data must chain to; nil for Apple's, which are built in.
    var rootCertificatesFile: String?

    /// The defaults.
    init() {}
}

extension AppleSettings {
    init(_ values: ConfigurationValues) throws(ConfigurationError) {
        self.init()
        verifyReceiptProductionURL = try values.httpsURL(.verifyReceiptProductionURL) ?? verifyReceiptProductionURL
        verifyReceiptSandboxURL = try values.httpsURL(.verifyReceiptSandboxURL) ?? verifyReceiptSandboxURL
        guard Self.comparable(verifyReceiptProductionURL) != Self.comparable(verifyReceiptSandboxURL) else {
            throw .contradiction(
                .verifyReceiptProductionURL, .verifyReceiptSandboxURL, requirement: "must be different endpoints")
        }
        caFile = try values.certificateFile(.appleCAFile)
        connectTimeout =
            try values.duration(.appleConnectTimeout, .milliseconds(100) ... .seconds(60)) ?? connectTimeout
        timeout = try values.duration(.appleTimeout, .seconds(1) ... .seconds(120)) ?? timeout
        guard connectTimeout <= timeout else {
            throw .contradiction(
                .appleConnectTimeout, .appleTimeout, requirement: "contradict: connecting is a part of the whole")
        }
        serverAPIProductionURL = try Self.base(values, .serverAPIProductionURL) ?? serverAPIProductionURL
        serverAPISandboxURL = try Self.base(values, .serverAPISandboxURL) ?? serverAPISandboxURL
        guard Self.comparable(serverAPIProductionURL) != Self.comparable(serverAPISandboxURL) else {
            throw .contradiction(
                .serverAPIProductionURL, .serverAPISandboxURL, requirement: "must be different endpoints")
        }
        rootCertificatesFile = try values.certificateFile(.appleRootCertificates)
    }

    /// Two spellings that reach one endpoint are equal in it.
    private static func comparable(_ url: String) -> String {
        var text = url.lowercased()
        while text.hasSuffix("/") { text.removeLast() }
        return text
    }

    private static func base(
        _ values: ConfigurationValues, _ key: ConfigurationKey
    ) throws(ConfigurationError) -> String? {
        guard let url = try values.httpsURL(key) else { return nil }
        guard !url.contains("/inApps") else { throw .invalid(key, requirement: "the base URL, without /inApps") }
        // Paths are appended, and begin with a slash.
        return url.hasSuffix("/") ? String(url.dropLast()) : url
    }
}
