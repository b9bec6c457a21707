"""Every code of the small floats, as print_small_floats decodes it, against ml_dtypes and numpy.

Bit for bit; where a code is no number, both sides must say so.
"""
import subprocess
import sys

import ml_dtypes
import numpy as np

TYPES = {
    "F16": (np.float16, 16),
    "BF16": (ml_dtypes.bfloat16, 16),
    "F8_E4M3": (ml_dtypes.float8_e4m3fn, 8),
    "F8_E5M2": (ml_dtypes.float8_e5m2, 8),
    "F8_E8M0": (ml_dtypes.float8_e8m0fnu, 8),
    "F8_E4M3FNUZ": (ml_dtypes.float8_e4m3fnuz, 8),
    "F8_E5M2FNUZ": (ml_dtypes.float8_e5m2fnuz, 8),
    "F6_E2M3": (ml_dtypes.float6_e2m3fn, 6),
    "F6_E3M2": (ml_dtypes.float6_e3m2fn, 6),
    "F4": (ml_dtypes.float4_e2m1fn, 4),
}


def main():
    printed = subprocess.run([sys.argv[1]], check=True, capture_output=True, text=True).stdout
    n_codes = 0
    seen = set()
    failed = set()
    for line in printed.splitlines():
        name, *bits = line.split()
        dtype, width = TYPES[name]
        ours = np.array([int(b, 16) for b in bits], dtype=np.uint32).view(np.float32)
        codes = np.arange(1 << width, dtype=np.uint16 if width == 16 else np.uint8)
        with np.errstate(invalid="ignore"):
            theirs = codes.view(dtype).astype(np.float32)
        same = (ours.view(np.uint32) == theirs.view(np.uint32)) | (np.isnan(ours) & np.isnan(theirs))
        for code in np.flatnonzero(~same)[:5]:
            print(f"{name} {code:#x}: {ours[code]!r}, ml_dtypes has {theirs[code]!r}")
        seen.add(name)
        n_codes += len(codes)
        if not same.all():
            failed.add(name)
    failed |= set(TYPES) - seen
    print(f"{n_codes} codes compared")
    print(f"{len(seen - failed)} passed, {len(failed)} failed")
    return 1 if failed else 0


sys.exit(main())
