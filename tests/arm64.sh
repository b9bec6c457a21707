#!/bin/sh
# Builds the codecs for 64-bit ARM and runs their self-tests under user-mode emulation. Nothing but
# a cross compiler and the emulator is needed; exits 77, with the reason, where one is missing.
#
#   tests/arm64.sh [FOLDER]
#
# FOLDER, if given, keeps the programs. ARM_CC and ARM_RUN name other programs; ARM_CC may hold options.
set -eu

compiler=${ARM_CC:-aarch64-linux-gnu-gcc}
emulator=${ARM_RUN:-qemu-aarch64-static}
root=$(cd "$(dirname "$0")/.." && pwd)

for program in "${compiler%% *}" "$emulator"; do
    if ! command -v "$program" >/dev/null; then
        echo "$program is not installed"
        exit 77
    fi
done

if [ $# -gt 0 ]; then
    work=$1
    mkdir -p "$work"
else
    work=$(mktemp -d)
    trap 'rm -rf "$work"' EXIT
fi

# $compiler is split on purpose: it may hold options.
# shellcheck disable=SC2086
compile() {
    $compiler -std=c17 -O3 -Wall -Wextra -Werror -ffp-contract=off -fno-math-errno -static \
        -D_POSIX_C_SOURCE=200809L -DTENON_HAVE_X86_VARIANTS=0 -DTENON_HAVE_ARM_VARIANTS=1 \
        -I"$root/src" -I"$root/src/include" -I"$root/tests/src" "$@"
}

mkdir -p "$work/objects"
(cd "$work/objects" && compile -c "$root"/src/dtype/*.c "$root"/src/arm/*.c "$root"/src/quant.c \
    "$root"/src/cpu.c "$root"/src/dtype.c "$root"/src/mem.c "$root"/tests/src/blocks.c \
    "$root"/tests/src/value_sets.c)
for program in codec_selftest encode_selftest; do
    compile -o "$work/$program" "$root/tests/src/$program.c" "$work"/objects/*.o -lm
    "$emulator" "$work/$program"
done
