import ArgumentParser
import Worker

@main
struct Grantor {
    static func main() async {
        await GrantorCommand.main()
    }
}
