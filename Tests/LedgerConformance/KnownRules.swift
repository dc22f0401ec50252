import Contract
import Ledger

extension LedgerConformance {
    static let knownRules: [ConformanceRule] = [
        ConformanceRule("An app that the ledger has purchases of is not unknown") { subject in
            try subject.own()
            func fail(_ id: SubmissionID, _ app: BundleID, _ reason: FailureReason = .unknownApp) throws
                -> DecisionResult
            {
                try subject.write(Samples.fail(Samples.submission(id, app: app, offset: 9), reason))[0]
            }
            func isHeld(_ result: DecisionResult) -> Bool {
                if case .toBeHeld(.appNotConfigured, _) = result { true } else { false }
            }
            try expect(try fail("u1", Samples.app).outcome, .failed(reason: "unknown_app"), "before a grant")
            try subject.write(Samples.fail(Samples.submission("s1", app: "a.other", offset: 1)))
            try expect(try fail("u2", "a.other").outcome, .failed(reason: "unknown_app"), "with failures alone")
            try subject.write(Samples.grant(Samples.submission("s2", offset: 2), Samples.purchase("1")))
            try expect(isHeld(try fail("u3", Samples.app)), "with a grant")
            try expect(try subject.ledger.submissions(SubmissionQuery(state: .failed)).count, 3, "failures")
            try expect(try fail("u1", Samples.app).outcome, .failed(reason: "unknown_app"), "what failed before")
            try expect(
                try fail("u4", Samples.app, .receiptNotAuthentic).outcome, .failed(reason: "receipt_not_authentic"),
                "another reason")
            try expect(
                try subject.write(Samples.fail(Samples.submission("s2", offset: 2), .unknownApp))[0].outcome,
                .redelivery, "a record that is granted")
            try subject.write(Samples.wait(Samples.submission("s3", app: "a.third", offset: 3)))
            try expect(isHeld(try fail("u5", "a.third")), "with a submission that waits")
        },
        ConformanceRule("A redelivery comes with its outcome") { subject in
            try subject.own()
            let granted = try subject.write(
                Samples.grant(Samples.submission("s1", offset: 1), Samples.purchase("1"), Samples.purchase("2")))[0]
            let copy = try subject.write(Samples.grant(Samples.submission("s2", offset: 2), Samples.purchase("1")))[0]
            let failed = try subject.write(Samples.fail(Samples.submission("s3", offset: 3)))[0]
            let waiting = try subject.write(
                Samples.wait(Samples.submission("s4", offset: 4), tellsWaiting: true))[0]
            try subject.write(Samples.grant(Samples.submission("s9", offset: 9), Samples.purchase("9")))
            let known = try subject.ledger.knownOutcomes(of: [1, 2, 3, 4, 5].map(Samples.origin))
            try expect(known.map(\.origin.offset), [1, 2, 3, 4], "origins")
            try expect(known.map(\.submissionID), ["s1", "s2", "s3", "s4"], "submissions")
            try expect(known.map(\.kind), [.granted, .repeated, .failed, .waiting], "kinds")
            let claims = [(3, "s3"), (4, "s4")].map { ClaimDigest(of: Samples.submission($0.1, offset: $0.0)) }
            try expect(known.map(\.digest), [nil, nil, claims[0], claims[1]], "contents")
            try expect(Set(known[0].publish.map(\.event)), Set(granted.events), "the granted one's events")
            try expect(known[1].publish.map(\.event), copy.events, "the repeat's")
            try expect(known[2].publish.map(\.event), failed.events, "the failed one's")
            try expect(known[3].publish.map(\.event), waiting.events, "the waiting one's")
        },
        ConformanceRule("Records of two claims at one offset are told apart") { subject in
            try subject.own()
            try subject.write(Samples.grant(Samples.submission("s1", offset: 1), Samples.purchase("1")))
            try subject.write(
                Samples.fail(Samples.submission("s1", user: "other", offset: 1)),
                Samples.fail(Samples.submission("s1", app: "com.example.other", offset: 1)))
            let known = try subject.ledger.knownOutcomes(of: [Samples.origin(1)])
            try expect(
                Set(known.map { "\($0.bundleID) \($0.submissionID) \($0.userID)" }),
                [
                    "com.example.game s1 player-1", "com.example.game s1 other", "com.example.other s1 player-1",
                ], "claims")
            try expect(known.map(\.publish.count), [1, 1, 1], "events")
        },
        ConformanceRule("Another partition's offsets are not this one's") { subject in
            try subject.own()
            try subject.write(Samples.grant(Samples.submission("s1", offset: 1), Samples.purchase("1")))
            let elsewhere = Origin(topic: Samples.partition.topic, partition: 4, offset: 1)
            try expect(try subject.ledger.knownOutcomes(of: [elsewhere]), [], "outcomes")
        },
    ]
}
