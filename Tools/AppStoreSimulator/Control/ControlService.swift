internal import Contract
internal import FoundationEssentials
internal import HTTPServer
internal import SimulatorServer
internal import Synchronization

/// The simulator's remote control, for tests and tools in other processes.
///
/// - `POST /simulator/receipts`: a ``ReceiptSpecification``; answers `{"receipt": base64}`.
/// - `POST /simulator/signed-transactions`: a ``SigningOrder``; answers `{"signedTransaction": compact JWS}`.
/// - `POST /simulator/transactions`: a ``RegistrationOrder``; answers 204.
/// - `DELETE /simulator/transactions`: forgets every transaction; answers 204.
/// - `POST /simulator/revocations`: a ``RevocationOrder``; answers 204, or 404 if the transaction is not known.
/// - `POST /simulator/keys`: a ``KeyOrder``; answers 204.
/// - `POST /simulator/scripts`: a ``ScriptOrder``; answers 204.
/// - `DELETE /simulator/scripts`: forgets every script and behaviour; answers 204.
/// - `GET /simulator/statistics`: answers ``Statistics``.
///
/// A body that cannot be read is answered with 400, and a request without room with 409, both with `{"error": text}`.
final class ControlService: Sendable {
    private let receipts: ReceiptFactory
    private let signed: SignedTransactionFactory
    private let transactions: ServerAPIService
    private let context: ServerContext
    private let now: @Sendable () -> Timestamp

    init(
        receipts: ReceiptFactory, signed: SignedTransactionFactory, transactions: ServerAPIService,
        context: ServerContext, now: @escaping @Sendable () -> Timestamp
    ) {
        self.receipts = receipts
        self.signed = signed
        self.transactions = transactions
        self.context = context
        self.now = now
    }

    func answer(_ request: Request) -> ServerAnswer { .reply(reply(to: request)) }

    private func reply(to request: Request) -> Reply {
        do {
            return try order(request)
        } catch let error as DecodingError {
            return Self.error(400, "The order cannot be read: \(error.words)")
        } catch SimulatorError.keyUnusable {
            return Self.error(400, "The key is not a P-256 public key in PEM.")
        } catch let error as ReceiptFactoryError {
            return Self.error(400, "The receipt cannot be made: \(error)")
        } catch {
            return Self.error(409, "There is no room: \(error)")
        }
    }

    private func order(_ request: Request) throws -> Reply {
        switch (request.head.method, request.head.path) {
        case ("POST", "/simulator/receipts"):
            let specification: ReceiptSpecification = try Self.decode(request)
            return Self.json(["receipt": try receipts.base64(specification)])
        case ("POST", "/simulator/signed-transactions"):
            return Self.json(["signedTransaction": try sign(Self.decode(request))])
        case ("POST", "/simulator/transactions"):
            let order: RegistrationOrder = try Self.decode(request)
            try transactions.table.withLock { table in
                for registration in order.transactions { try table.register(registration) }
            }
        case ("DELETE", "/simulator/transactions"):
            transactions.table.withLock { $0.clear() }
        case ("POST", "/simulator/revocations"):
            guard revoke(try Self.decode(request)) else { return Self.error(404, "The transaction is not known.") }
        case ("POST", "/simulator/keys"):
            let order: KeyOrder = try Self.decode(request)
            try transactions.accept(publicKeyPEM: order.publicKey, issuerID: order.issuerId, keyID: order.keyId)
        case ("POST", "/simulator/scripts"):
            let order: ScriptOrder = try Self.decode(request)
            try context.book.withLock { try order.apply(to: &$0) }
        case ("DELETE", "/simulator/scripts"):
            context.book.withLock { $0.clear() }
        case ("GET", "/simulator/statistics"):
            return Self.json(context.statistics.withLock { $0 })
        default: return Self.error(404, "There is no such control.")
        }
        return Reply(status: 204)
    }

    private func sign(_ order: SigningOrder) throws -> String {
        let signedAt = order.signedDate.map { Timestamp(milliseconds: $0) } ?? now()
        return try signed.signed(order.transaction, signedAt: signedAt, header: order.header ?? [])
    }

    private func revoke(_ order: RevocationOrder) -> Bool {
        let moment = order.revocationDate.map { Timestamp(milliseconds: $0) } ?? now()
        return transactions.table.withLock {
            $0.revoke(
                TransactionID(order.transactionId), in: order.environment.environment, at: moment,
                reason: order.reason ?? "0")
        }
    }

    private static func decode<Order: Decodable>(_ request: Request) throws -> Order {
        try JSONDecoder().decode(Order.self, from: Data(request.body))
    }

    private static func error(_ code: Int, _ text: String) -> Reply {
        var reply = json(["error": text])
        reply.status = code
        return reply
    }

    private static func json(_ value: some Encodable) -> Reply {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        guard let body = try? encoder.encode(value) else { return .text(500, "The answer could not be written.") }
        return .json(Array(body))
    }
}
