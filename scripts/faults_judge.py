"""What is judged of a fault in scripts/faults-test.py: the worker's line, the alert, and `grantor check`."""

import json
import re
import time
from dataclasses import dataclass, field

from checkout import Failure

# Longest waits in seconds: for the line and the alert of a fault, and for the end of an alert.
LIMIT, OVER = 60, 150
# How long an alert that must not come is waited for.
QUIET = 4


@dataclass(frozen=True)
class Line:
    """What the worker must say: a message, words in its fields, and the exit code where it ends."""

    message: str
    words: str = ""
    exit: int | None = None

    def fits(self, line):
        return (
            self.message in line["message"] and re.search(self.words, fields(line)) is not None
            and line.get("exit_code") == self.exit
        )


def ends(words, code=78):
    """The last line of a worker that ends."""
    message = "The worker cannot work before a person mends the cause" if code == 78 else "The worker ends"
    return Line(message, words, code)


@dataclass(frozen=True)
class Sees:
    """What `grantor check` must say: the name of a check, its result, and words of its detail."""

    name: str
    result: str
    words: str
    exit: int | None = None


@dataclass(frozen=True)
class Refuses:
    """`grantor check` must end with 78 and these words, as run does."""

    words: str


@dataclass(frozen=True)
class Blind:
    """`grantor check` cannot see the fault, and may not say that another thing has failed."""

    why: str


@dataclass
class Row:
    """A fault in the table, with what was missing."""

    name: str
    line: str = ""
    alert: str = ""
    check: str = ""
    missing: list = field(default_factory=list)


def fields(line):
    return "; ".join(
        f"{key}: {value}" for key, value in line.items() if key not in ("ts", "level", "label", "message", "version")
    )


class Judged:
    """A lane whose faults are judged."""

    def fault(self, name, cause, mend=None, *, line, alert, check, fresh=False):
        """Makes a fault, looks at what the worker, the alerts and `grantor check` say of it, and mends it.

        `fresh` faults meet a worker at its start. `line` may also be a function that waits for what is said elsewhere,
        and returns it. `alert` is None where no alert may come.
        """
        if not self.stage.wants(name):
            return
        row = Row(name)
        self.rows.append(row)
        try:
            self.begin()
            self.stop() if fresh else self.heal()
            mark, began, before = self.end_of_log(), time.monotonic(), self.stage.watch.active(self.name)
            cause()
            row.line = self.judged(row, lambda: line() if callable(line) else self.line(mark, line))
            row.alert = self.judged(row, lambda: self.alert(alert, began, before))
            row.check = self.judged(row, lambda: self.look(check))
            self.judged(row, lambda: self.lasts(alert))
        except Exception as error:
            row.missing.append(f"could not be made: {error!r}")
        self.judged(row, mend or self.restart)
        if alert:
            self.judged(row, lambda: self.await_end(alert))
        state = "FAILED: " + "; ".join(row.missing) if row.missing else "ok"
        self.stage.say(f"{self.name}: {name}: {state}")

    @staticmethod
    def judged(row, part):
        """What a part found; what it missed goes to the row, and the next part is looked at all the same."""
        try:
            return part() or ""
        except Exception as error:
            text = str(error) if isinstance(error, Failure) else repr(error)
            row.missing.append(text)
            return f"MISSING: {text}"

    def line(self, mark, wanted):
        end = time.monotonic() + LIMIT
        while True:
            said = self.said(mark)
            found = next((line for line in said if wanted.fits(line)), None)
            if found and (wanted.exit is None or self.part.process.poll() == wanted.exit):
                break
            if time.monotonic() > end:
                last = [f"{line['message']} ({fields(line)})" for line in said if self.is_loud(line)][-3:]
                last = " | ".join(last) or "none"
                raise Failure(f"no line “{wanted.message}” with “{wanted.words}”; the last loud ones: {last}")
            time.sleep(0.1)
        others = sum(self.is_loud(line) for line in self.said(mark)) - self.is_loud(found)
        beside = f" (and {others} more)" if others > 0 else ""
        return f"{found['level']}: {found['message']}; {fields(found)}{beside}"

    @staticmethod
    def is_loud(line):
        return line["level"] in ("warning", "error", "critical")

    def alert(self, name, began, before):
        if name is None:
            time.sleep(QUIET)
            came = set(self.stage.watch.active(self.name)) - set(before)
            if came:
                raise Failure(f"alerts that should not come: {', '.join(sorted(came))}")
            return "none, as it should be"
        end = time.monotonic() + LIMIT
        while not (state := self.stage.watch.active(self.name).get(name)):
            if time.monotonic() > end:
                others = ", ".join(sorted(self.stage.watch.active(self.name))) or "none"
                raise Failure(f"{name} does not come; active: {others}")
            time.sleep(0.2)
        return f"{self.stage.watch.words(name, state)}; {time.monotonic() - began:.0f} s"

    def lasts(self, name):
        """An alert that waits must not end by itself while the fault lasts."""
        watch = self.stage.watch
        if not name or "for" not in watch.rules[name]:
            return
        # It may be one of before the fault, which begins anew.
        end = time.monotonic() + QUIET
        while name not in (active := watch.active(self.name)):
            if time.monotonic() > end:
                raise Failure(f"{name} ends while the fault lasts; active: {', '.join(sorted(active)) or 'none'}")
            time.sleep(0.2)

    def await_end(self, name):
        end = time.monotonic() + OVER
        while name in self.stage.watch.active(self.name):
            if time.monotonic() > end:
                raise Failure(f"{name} does not end once the fault is mended")
            time.sleep(0.2)

    def checks(self):
        """What `grantor check` says, and how it ends."""
        done = self.command("check", "--json")
        found = json.loads(done.stdout)["checks"] if done.stdout.startswith("{") else []
        return found, done

    def look(self, wanted):
        found, done = self.checks()
        failed = [one for one in found if one["result"] == "failed"]
        words = "; ".join(f"{one['name']} {one['result']}: {one['detail']}" for one in failed)
        match wanted:
            case Blind(why):
                if words or done.returncode != 0:
                    raise Failure(f"check should see nothing, and ends with {done.returncode}: {words or done.stderr}")
                return f"cannot see this: {why}"
            case Refuses(regex):
                if done.returncode != 78 or not re.search(regex, done.stderr):
                    raise Failure(f"check ends with {done.returncode}, not 78 and “{regex}”: {done.stderr.strip()}")
                return f"exit code 78: {done.stderr.strip()}"
            case Sees(name, result, regex, code):
                code = (1 if result == "failed" else 0) if code is None else code
                fits = [
                    one for one in found
                    if name in one["name"] and one["result"] == result and re.search(regex, one["detail"])
                ]
                if not fits or done.returncode != code:
                    raise Failure(f"check ends with {done.returncode} and no {result} “{regex}”: {words or found}")
                return f"{fits[0]['name']} {result}: {fits[0]['detail']}"

    def begin(self):
        """Once: all is well before the first fault, and check finds no failure that it would find of any fault."""
        if self.has_begun:
            return
        self.has_begun = True
        self.restart()
        found, done = self.checks()
        if done.returncode != 0:
            failed = [one for one in found if one["result"] == "failed"]
            raise Failure(f"check ends with {done.returncode} where all is well: {failed or done.stderr}")
