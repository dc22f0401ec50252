import Crypto
import Foundation
import InventoryTesting
import Purchases
import Synchronization
import SystemTesting

/// The inventory service of a run, with a fault proxy before it: applies each grant once by its key, and checks what a
/// platform's own would check.
struct Inventory: Sendable {
    /// How it answers.
    enum Mood: Sendable {
        case well
        /// Every call gets 503, and nothing is applied.
        case out
        /// Every second call goes wrong.
        case brownedOut
    }

    /// What answers hang on, and what came of them. Shared with the server's script.
    private final class Desk: Sendable {
        struct State {
            var mood = Mood.well
            var generator: SeededGenerator
            var firstYes: [GrantID: Int64] = [:]
            var unsigned = 0
        }

        let state: Mutex<State>

        init(seed: UInt64) { state = Mutex(State(generator: SeededGenerator(seed: seed))) }
    }

    /// The file in the run's folder with what calls are signed with.
    static let secretFile = "inventory-secret"
    private static let secret = "chaos-inventory-secret-0123456789"

    let proxy: FaultProxy
    private let server: InventoryServer
    private let desk: Desk

    static func start(seed: UInt64, in folder: URL) async throws -> Inventory {
        try Data((secret + "\n").utf8).write(to: folder.appending(path: secretFile))
        let desk = Desk(seed: seed)
        let server = try await InventoryServer(
            now: { SystemTime.now.milliseconds }, script: { Self.answer($0, desk) })
        return Inventory(proxy: try await FaultProxy.start(before: server.port), server: server, desk: desk)
    }

    /// Where grants are told: the proxy.
    var url: String { "http://127.0.0.1:\(proxy.port)/grants" }

    func set(_ mood: Mood) {
        desk.state.withLock { $0.mood = mood }
    }

    /// What it was told so far.
    var told: ToldGrants {
        let book = server.soFar
        return desk.state.withLock { state in
            ToldGrants(
                firstYes: state.firstYes,
                bodies: Dictionary(uniqueKeysWithValues: book.bodies.map { (GrantID($0), $1) }),
                calls: book.calls.count, unsigned: state.unsigned)
        }
    }

    /// Ends the service and the proxy.
    func close() async throws {
        try await proxy.close()
        try await server.close()
    }

    private static func answer(_ call: InventoryServer.Call, _ desk: Desk) -> InventoryServer.Behaviour {
        desk.state.withLock { state in
            guard isGenuine(call) else {
                state.unsigned += 1
                return .refuse(status: 401)
            }
            switch state.mood {
            case .out: return .refuse(status: 503)
            case .brownedOut where Bool.random(using: &state.generator):
                return wrongs[Int.random(in: wrongs.indices, using: &state.generator)]
            case .well, .brownedOut: break
            }
            let key = GrantID(call.key)
            let isRepeat = state.firstYes[key] != nil
            if !isRepeat { state.firstYes[key] = SystemTime.now.milliseconds }
            // Both are a yes, and services answer repeats in either way.
            return isRepeat && call.tries.isMultiple(of: 2)
                ? .apply(status: 409, body: #"{"idempotencyKey":"\#(call.key)"}"#) : .apply()
        }
    }

    /// What a service in trouble does, and none of it is a yes.
    private static let wrongs: [InventoryServer.Behaviour] = [
        .refuse(status: 500), .refuse(status: 409), .refuse(status: 422), .applyAndDie, .applyAndCut, .applyAndHang,
        .apply(status: 502), .hang,
    ]

    /// The check that the handbook of fulfilment calls asks for.
    private static func isGenuine(_ call: InventoryServer.Call) -> Bool {
        let parts = (call.headers["grantor-signature"] ?? "").split(separator: ",").map { $0.split(separator: "=") }
        guard let time = parts.first(where: { $0.first == "t" })?.last else { return false }
        let code = HMAC<SHA256>.authenticationCode(
            for: Array("\(time).".utf8) + call.body, using: SymmetricKey(data: Data(secret.utf8)))
        let wanted = code.map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 2 ? digits : "0" + digits
        }.joined()
        return parts.contains { $0.first == "v1" && $0.last.map(String.init) == wanted }
    }
}
