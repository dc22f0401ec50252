// Measures the client's processor time for a call, over TLS on loopback.
//
//     http-bench serve [MILLISECONDS AN ANSWER TAKES]
//     http-bench call PORT CA-FILE [CALLS IN FLIGHT] [CALLS] [BYTES OF A BODY]
//
// The server prints its port and the file of its authority, and runs until it is ended. Answers have 2,000 bytes. The
// calls that open connections are not measured.
import CertificateMaking
import FoundationEssentials
import Glibc
import HTTPClient
import HTTPServer
import Logging
import SimulatorServer
import Synchronization
import Threading

func serve(delay: Duration) throws {
    let now = Int64(time(nil))
    let certificate = try ServerCertificate(validity: (now - 86_400)...(now + 86_400))
    let file = FileManager.default.temporaryDirectory.path + "/http-bench-\(getpid()).pem"
    try certificate.rootPEM.write(toFile: file, atomically: true, encoding: .utf8)
    var configuration = ServerConfiguration()
    configuration.maxConnections = 10_000
    configuration.maxBytesInFlight = 1 << 30
    configuration.handshakeTime = .seconds(60)
    let answer = ServerAnswer(
        .reply(Reply(status: 200, contentType: "application/json", text: String(repeating: "0", count: 2000))),
        delay: delay)
    let identity = try TLSIdentity(certificatePEM: certificate.certificatePEM, keyPEM: certificate.keyPEM)
    let server = try Server(configuration, identity: identity) { _ in answer }
    print(server.port, file)
    fflush(nil)
    while true { pause() }
}

/// Processor time of the process so far, in microseconds.
func processorTime() -> Int {
    var usage = rusage()
    getrusage(RUSAGE_SELF.rawValue, &usage)
    return (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1_000_000 + Int(usage.ru_utime.tv_usec)
        + Int(usage.ru_stime.tv_usec)
}

/// Sends as many calls as may be in flight, and another for each that is answered.
final class Load: Sendable {
    struct State {
        var sent = 0
        var answered = 0
        var failed = 0
        var client: HTTPClient?
        /// When the calls that open connections were over.
        var begin = (processorTime: 0, instant: ContinuousClock.now, answered: 0)
    }

    private let state = Mutex(State())
    private let inFlight: Int
    private let calls: Int
    private let call: HTTPCall
    private let ended: WakeDescriptor

    init(_ call: HTTPCall, inFlight: Int, calls: Int) throws {
        (self.call, self.inFlight, self.calls) = (call, inFlight, calls)
        ended = try WakeDescriptor()
    }

    func run(_ client: HTTPClient) {
        state.withLock {
            $0.client = client
            $0.sent = inFlight
        }
        client.send(Array(repeating: call, count: inFlight))
        ended.wait()
        let state = state.withLock { state in
            state.client = nil
            return state
        }
        let measured = state.answered - state.begin.answered
        let seconds = (ContinuousClock.now - state.begin.instant) / .seconds(1)
        let microseconds = Double(processorTime() - state.begin.processorTime) / Double(measured)
        print(
            "\(measured) calls, \(state.failed) failed, \(Int(Double(measured) / seconds)) a second,",
            "\((microseconds * 10).rounded() / 10) us of processor time each")
    }

    func take(_ outcomes: [HTTPOutcome]) {
        let (client, more) = state.withLock { state in
            state.failed += outcomes.count { if case .failure = $0.result { true } else { false } }
            state.answered += outcomes.count
            if state.begin.processorTime == 0, state.answered >= 2 * inFlight {
                state.begin = (processorTime(), .now, state.answered)
            }
            let more = min(outcomes.count, max(0, calls - state.sent))
            state.sent += more
            if state.answered >= calls { ended.signal() }
            return (state.client, more)
        }
        if more > 0 { client?.send(Array(repeating: call, count: more)) }
    }
}

func call(_ port: String, _ caFile: String, inFlight: Int, calls: Int, bytes: Int) throws {
    var configuration = HTTPClientConfiguration()
    configuration.maxInFlight = inFlight
    configuration.caFile = caFile
    configuration.connectTimeout = .seconds(60)
    configuration.totalTimeout = .seconds(120)
    let request = try HTTPRequest(
        .post, HTTPEndpoint(baseURL: "https://localhost:\(port)"), path: "/verifyReceipt",
        headers: [HTTPHeader(name: "Content-Type", value: "application/json")])
    let body = HTTPBody([[UInt8](repeating: UInt8(ascii: "x"), count: bytes)[...]])
    let load = try Load(HTTPCall(token: 0, request: request, body: body), inFlight: inFlight, calls: calls)
    let client = try HTTPClient(configuration: configuration, logger: Logger(label: "bench")) { load.take($0) }
    load.run(client)
    client.stop()
}

let words = Array(CommandLine.arguments.dropFirst())
func number(_ place: Int, or standard: Int) -> Int { words.count > place ? Int(words[place]) ?? standard : standard }

switch (words.first, words.count) {
case ("serve", _): try serve(delay: .milliseconds(number(1, or: 250)))
case ("call", 3...):
    try call(
        words[1], words[2], inFlight: number(3, or: 1000), calls: number(4, or: 40_000), bytes: number(5, or: 4096))
default:
    print("usage: http-bench serve [MILLISECONDS] | call PORT CA-FILE [IN-FLIGHT] [CALLS] [BYTES]")
    exit(64)
}
