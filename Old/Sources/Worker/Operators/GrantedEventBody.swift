import Foundation
import Purchases

/// What operators' answers need of a granted event.
enum GrantedEventBody {
    private struct Body: Decodable {
        let grantId: String
    }

    /// The grant that the event tells of; nil for any other event.
    static func grantID(of event: Event) -> GrantID? {
        guard event.kind == .granted, let value = event.value,
            let body = try? JSONDecoder().decode(Body.self, from: Data(value))
        else { return nil }
        return GrantID(body.grantId)
    }
}
