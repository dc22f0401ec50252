import AppStoreSimulator
import Ledger

/// The parts that the demo plays on. The App Store is always the demo's own.
protocol Stage: AnyObject {
    /// The parts, for people.
    var parts: String { get }
    /// For the App Store's certificates and the workers' files.
    var folder: String { get }
    /// Where workers reach the App Store; nil for loopback and any port.
    var apple: (host: String, productionPort: Int, sandboxPort: Int)? { get }
    var bootstrapServers: String { get }
    /// The events on the way, one after the other.
    var accidents: [Accident] { get }
    /// The places to look at where something went wrong.
    var traces: String { get }

    /// Writes what workers need to start.
    func prepare(apple: AppStoreSimulator.Endpoints, key: ServerAPIKey) throws
    /// Returns once a worker runs.
    func start() throws(DemoFailure)
    /// - Throws: if a worker ended by itself.
    func mustRun() throws(DemoFailure)
    /// Stops the workers in order.
    ///
    /// - Returns: whether each of them ended with exit code 0.
    func stop() throws(DemoFailure) -> Bool
    func ledger() throws(LedgerError) -> any LedgerOperator
    /// Ends the parts, whatever state they are in.
    /// - Parameter passed: whether everything came out as it must.
    func end(passed: Bool)
}

/// Something bad that happens to a part.
struct Accident {
    /// Goes on a sentence that begins with the submissions under way: "and killed the worker".
    let text: String
    let happen: () throws -> Void
}
