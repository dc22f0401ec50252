internal import Contract

/// The body of `POST /simulator/scripts`; every member may be left out.
public struct ScriptOrder: Hashable, Sendable, Codable {
    public struct Transaction: Hashable, Sendable, Codable {
        /// The transaction whose receipts the faults strike.
        public var transactionId: String
        /// Played one per call, after those the transaction has already.
        public var faults: [Fault]

        /// Faults for the calls about a transaction.
        public init(transactionId: String, faults: [Fault]) {
            self.transactionId = transactionId
            self.faults = faults
        }
    }

    /// One of the two endpoints, by its name in JSON.
    public enum Endpoint: String, Hashable, Sendable, Codable, CaseIterable {
        case production
        case sandbox
    }

    /// Appended to the transactions' present scripts.
    public var transactions: [Transaction]?
    /// Replaces the behaviour of the environments.
    public var behaviour: Behaviour?
    /// Whose behaviour is replaced; both if it is left out.
    public var environments: [Endpoint]?

    /// Scripts and a behaviour to take on together.
    public init(transactions: [Transaction]? = nil, behaviour: Behaviour? = nil, environments: [Endpoint]? = nil) {
        self.transactions = transactions
        self.behaviour = behaviour
        self.environments = environments
    }

    func apply(to book: inout ScriptBook) throws(ScriptBook.Full) {
        if let behaviour {
            for endpoint in environments ?? Endpoint.allCases {
                book.set(behaviour, for: endpoint.environment)
            }
        }
        for transaction in transactions ?? [] {
            try book.append(transaction.faults, to: TransactionID(transaction.transactionId))
        }
    }
}
