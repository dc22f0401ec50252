import Testing

@testable import Ledger

@Suite struct ConnectionRefusalTests {
    @Test(arguments: [
        (
            "connection to server at \"db\" (10.0.0.1), port 5432 failed: FATAL:  28P01: password authentication failed\n"
                + "LOCATION:  auth_failed, auth.c:340\n", "28P01"
        ),
        ("FATAL:  3D000: database \"x\" does not exist", "3D000"),
        (
            "connection to server at \"a\" failed: FATAL:  57P03: the database system is starting up\n"
                + "connection to server at \"b\" failed: Connection refused\n", "57P03"
        ),
        // The server's language does not matter.
        ("FATAL:  53300: zu viele Verbindungen", "53300"),
    ])
    func theServersStateIsFound(message: String, state: String) {
        #expect(ConnectionRefusal(message).state == state)
    }

    @Test func libpqsHintIsNotWhatIsTold() {
        let message =
            "connection to server at \"db\", port 5432 failed: Connection refused\n\tIs the server running on that host?\n"
        #expect(
            ConnectionRefusal(message).text == "connection to server at \"db\", port 5432 failed: Connection refused")
    }

    @Test(arguments: [
        "", "connection to server at \"db\", port 5432 failed: Connection refused\n\tIs the server running?",
        "SSL error: certificate verify failed", "could not translate host name \"HOST1:\" to address",
    ])
    func aFailureOfTheNetworkHasNone(message: String) {
        #expect(ConnectionRefusal(message).state == nil)
    }

    @Test func theTextIsOneLine() {
        let refusal = ConnectionRefusal("FATAL:  28000: no entry\nLOCATION:  x, y.c:1\n")
        #expect(refusal.text == "FATAL:  28000: no entry")
        #expect(ConnectionRefusal("").text == "no message")
    }
}
