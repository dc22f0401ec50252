import Foundation
import Purchases
import Synchronization

/// The simulator's remote control, for tests and tools in other processes.
///
/// - `POST /simulator/receipts`: a ``ReceiptSpecification``; answers `{"receipt": base64}`.
/// - `POST /simulator/scripts`: a ``ScriptOrder``; answers 204.
/// - `DELETE /simulator/scripts`: forgets every script and behaviour; answers 204.
/// - `GET /simulator/statistics`: answers ``Statistics``.
///
/// A body that cannot be read is answered with 400, a script for which there is no room with 409, both with
/// `{"error": text}`.
final class ControlService: Sendable {
    private let factory: ReceiptFactory
    private let service: VerifyReceiptService

    init(factory: ReceiptFactory, service: VerifyReceiptService) {
        self.factory = factory
        self.service = service
    }

    func perform(_ request: Request) -> Performance {
        Performance(act: .reply(reply(to: request)))
    }

    private func reply(to request: Request) -> HTTPReply {
        guard !request.isTooLarge else { return Self.error(413, "The request is too large.") }
        switch (request.method, request.path) {
        case ("POST", "/simulator/receipts"): return issue(request.body)
        case ("POST", "/simulator/scripts"): return script(request.body)
        case ("DELETE", "/simulator/scripts"):
            service.book.withLock { $0.clear() }
            return HTTPReply(code: 204)
        case ("GET", "/simulator/statistics"): return Self.json(service.statistics.withLock { $0 })
        default: return Self.error(404, "There is no such control.")
        }
    }

    private func issue(_ body: Data) -> HTTPReply {
        do {
            let specification = try JSONDecoder().decode(ReceiptSpecification.self, from: body)
            return Self.json(["receipt": try factory.base64(specification)])
        } catch {
            return Self.error(400, "The receipt cannot be made: \(error)")
        }
    }

    private func script(_ body: Data) -> HTTPReply {
        let order: ScriptOrder
        do {
            order = try JSONDecoder().decode(ScriptOrder.self, from: body)
        } catch {
            return Self.error(400, "The script cannot be read: \(error)")
        }
        do {
            try service.book.withLock { book throws(ScriptBook.Full) in try order.apply(to: &book) }
            return HTTPReply(code: 204)
        } catch {
            return Self.error(409, "There is no room for the script: \(error)")
        }
    }

    private static func error(_ code: Int, _ text: String) -> HTTPReply {
        var reply = json(["error": text])
        reply.code = code
        return reply
    }

    private static func json(_ value: some Encodable) -> HTTPReply {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        guard let body = try? encoder.encode(value) else { return Stage.text(500, "The answer could not be written.") }
        return HTTPReply(body: Array(body))
    }
}
