#!/bin/sh
# old_cpu.sh SELFTEST: runs it on an emulated processor of 2008, which has no AVX. Then no
# variant may be chosen, and plain C must do without newer instructions. Exits 77, with the reason,
# where the emulator is missing.
set -eu

emulator=qemu-x86_64-static
if ! command -v "$emulator" >/dev/null; then
    echo "$emulator is not installed"
    exit 77
fi
output=$("$emulator" -cpu Nehalem "$1")
echo "$output"
case $output in
*", 0 with a variant for this processor"*) ;;
*)
    echo "a variant was chosen that this processor cannot run"
    exit 1
    ;;
esac
