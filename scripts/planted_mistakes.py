"""The end of a program that plants mistakes, to see that a check notices each."""


def report(missed, count):
    """Prints a line for each mistake that was missed, or that all of them were noticed; returns the exit code."""
    found = list(missed)
    for line in found:
        print(line)
    if not found:
        print(f"noticed: {count} planted mistakes")
    return 1 if found else 0
