struct Options {
    var program = ".build/release/grantor"
    var submissions = 5000
    var kills = 20
    var brokerKills = 0
    var ledger = Ledger.sqlite
    var workers = 4
    /// Times that a standby takes the database's place.
    var promotions = 20
    var seed: UInt64 = 1
    /// Length of an outage, or of the time in which faults come, in seconds.
    var seconds = 30
    /// Forged receipts a second.
    var forged = 1000
    /// Genuine receipts in all.
    var receipts = 5000
    /// The way in which Apple is away.
    var away = Away.refused
    /// The reason for which a topic refuses records.
    var refusal = Refusal.size
    /// Most memory that a worker may take, in MB.
    var memory = 250

    enum Away: String {
        /// Nobody listens.
        case refused
        /// Connections are taken by the kernel and nobody answers.
        case silent
    }

    enum Refusal: String {
        case size
        /// The worker may not write into the topic.
        case right
    }

    enum Ledger: String {
        case sqlite, postgres
    }

    init() {}

    /// Reads options; each is a name and a value.
    init(_ words: some Sequence<String>) throws(ChaosFailure) {
        var words = Array(words)[...]
        while let word = words.popFirst() {
            guard let value = words.popFirst() else { throw ChaosFailure("\(word) needs a value") }
            switch (word, Int(value)) {
            case ("--program", _): program = value
            case ("--submissions", let count?): submissions = count
            case ("--kills", let count?): kills = count
            case ("--broker-kills", let count?): brokerKills = count
            case ("--ledger", _):
                guard let kind = Ledger(rawValue: value) else { throw ChaosFailure("--ledger is sqlite or postgres") }
                ledger = kind
            case ("--workers", let count?): workers = count
            case ("--promotions", let count?): promotions = count
            case ("--seed", let number?): seed = UInt64(number)
            case ("--seconds", let count?): seconds = count
            case ("--forged", let count?): forged = count
            case ("--receipts", let count?): receipts = count
            case ("--memory", let count?): memory = count
            case ("--away", _):
                guard let way = Away(rawValue: value) else { throw ChaosFailure("--away is refused or silent") }
                away = way
            case ("--refusal", _):
                guard let reason = Refusal(rawValue: value) else { throw ChaosFailure("--refusal is size or right") }
                refusal = reason
            default: throw ChaosFailure("unknown: \(word) \(value)")
            }
        }
    }
}
