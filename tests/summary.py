"""Adds up a Meson test log: `summary.py testlog.json` prints 'N passed, N failed[, N skipped]'.

Programs that report their own counts (check: 'Checks: N, Failures: N, Errors: N'; others:
'N passed, N failed') count by those, all others as one. The exit status is 1 when something failed,
or when nothing ran. TENON_NO_SKIP=1 makes a skipped test a failed one.
"""
import json
import os
import re
import sys

CHECK = re.compile(r"^\d+%: Checks: (\d+), Failures: (\d+), Errors: (\d+)$", re.M)
PLAIN = re.compile(r"^(\d+) passed, (\d+) failed(?:, \d+ skipped)?$", re.M)


def count(test):
    """(passed, failed) of one test program."""
    passed = failed = 0
    for total, failures, errors in CHECK.findall(test.get("stdout", "")):
        failed += int(failures) + int(errors)
        passed += int(total) - int(failures) - int(errors)
    for ok, bad in PLAIN.findall(test.get("stdout", ""))[-1:]:
        passed += int(ok)
        failed += int(bad)
    good = test["result"] in ("OK", "EXPECTEDFAIL")
    if passed + failed == 0 or (failed == 0) != good:
        passed += good
        failed += not good
    return passed, failed


def main():
    passed = failed = skipped = 0
    with open(sys.argv[1], encoding="utf-8") as log:
        tests = [json.loads(line) for line in log]
    for test in tests:
        if test["result"] == "SKIP" and os.environ.get("TENON_NO_SKIP") != "1":
            skipped += 1
            continue
        ok, bad = count(test)
        if bad:
            print(f"failed: {test['name']} ({test['result']})", file=sys.stderr)
        passed += ok
        failed += bad
    text = f"{passed} passed, {failed} failed"
    print(text + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
