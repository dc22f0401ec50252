import Commands

GrantorProgram.main(Array(CommandLine.arguments.dropFirst()))
