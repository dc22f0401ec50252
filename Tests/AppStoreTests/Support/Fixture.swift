import Contract

@testable import AppStore

/// An app and a moment that the tests share.
enum Fixture {
    static let now = Timestamp(milliseconds: 1_795_237_200_000)
    static let day: Duration = .seconds(86_400)

    static let products: [ProductID: Product] = [
        "gems": Product(id: "gems", type: .consumable, items: [Item(item: "gems", quantity: 100)]),
        "level": Product(id: "level", type: .nonConsumable, items: [Item(item: "level", quantity: 1)]),
        "pass": Product(id: "pass", type: .nonRenewing, items: [Item(item: "pass", quantity: 1)]),
        "vip": Product(id: "vip", type: .autoRenewable, items: [Item(item: "vip", quantity: 1)]),
    ]

    static func app(sandbox: SandboxPolicy = .accept, products: App.Products = .catalogue(products)) -> App {
        App(bundleID: "com.example.game", sandbox: sandbox, products: products)
    }
}

extension Verdict {
    /// What the submission waits for on our side, if it does.
    var hold: HoldCause? {
        guard case .hold(let cause, _) = self else { return nil }
        return cause
    }
}
