extension Unicode.Scalar {
    /// Whether it is a control or format character, such as ZERO WIDTH SPACE (Unicode's general categories Cc and Cf): what
    /// holds one looks like what does not.
    var isInvisible: Bool {
        switch properties.generalCategory {
        case .control, .format: true
        default: false
        }
    }
}
