/// What a run submits, and how fast Apple is.
struct BenchCase: Codable, Sendable {
    enum Evidence: String, Codable, CaseIterable, Sendable {
        /// App Store receipts, verified by Apple's verifyReceipt over HTTPS.
        case receipt
        /// StoreKit 2 signed transactions, verified in the worker.
        case signedTransaction
    }

    enum Ledger: String, Codable, CaseIterable, Sendable {
        /// A file of the worker's own.
        case sqlite
        /// A server of the run's own, every commit synced.
        case postgres
    }

    let evidence: Evidence
    /// What Apple takes for each call; nothing is called for signed transactions.
    let latencyMilliseconds: Int
    let inFlight: Int
    let submissions: Int
    /// Bytes of a receipt before base64.
    let receiptBytes: Int
    let ledger: Ledger

    /// For people.
    var name: String {
        switch evidence {
        case .receipt: "receipts, \(latencyMilliseconds) ms"
        case .signedTransaction: "signed transactions"
        }
    }

    /// In flight divided by latency: no worker can be faster (Little's law); nil where nothing is waited for.
    var ceiling: Double? {
        latencyMilliseconds == 0 ? nil : Double(inFlight) * 1000 / Double(latencyMilliseconds)
    }
}

/// What one run came to.
struct Measurement: Codable, Sendable {
    let receiptsPerSecond: Double
    /// User and system time of the worker process, between the first record and the last event.
    let cpuMicrosecondsPerReceipt: Double
    /// `VmHWM` of the worker process.
    let peakMemoryMiB: Double
    /// CPU time of one bare P-256 verification by swift-crypto, measured right after the run.
    let rawVerificationMicroseconds: Double
    /// CPU time of one call by libcurl alone, measured right after the run; nil where nothing is called.
    var bareCallMicroseconds: Double?
}

/// A case with its runs.
struct CaseResult: Codable, Sendable {
    let scenario: BenchCase
    let measurements: [Measurement]

    func median(_ value: (Measurement) -> Double) -> Double {
        let sorted = measurements.map(value).sorted()
        return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
    }
}
