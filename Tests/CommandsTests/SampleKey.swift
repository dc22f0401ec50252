/// A private key of the kind that App Store Connect gives out, made for tests.
enum SampleKey {
    static let pem = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgBxpef9DWetR3yVKw
        Qww8sAedmOJYzybjYy5m9lWQI0GhRANCAATqW57kLqz4KmlrUMBTQ0+E38BWUEys
        3IVIxGXwnfu7a6NXU9fh+WF1X2CnGN395QeuAeXz353VDbkD9iZuH91R
        -----END PRIVATE KEY-----
        """
}
