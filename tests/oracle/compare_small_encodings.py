"""Small floats as print_small_encodings rounds them, against the casts of ml_dtypes and numpy.

The inputs are all float32 of 11 significant bits, which are the codes and the middles between
them, and for each the numbers next to it on both sides. Byte for byte; of two NaNs only the sign
is compared, since numpy keeps payloads.
"""
import subprocess
import sys

import ml_dtypes
import numpy as np

# In the order in which they are printed.
TYPES = [
    ("F16", np.float16, np.uint16),
    ("BF16", ml_dtypes.bfloat16, np.uint16),
    ("F8_E4M3", ml_dtypes.float8_e4m3fn, np.uint8),
    ("F8_E5M2", ml_dtypes.float8_e5m2, np.uint8),
]


def inputs():
    middles = np.arange(1 << 20, dtype=np.uint32) << np.uint32(12)
    return np.concatenate([middles - np.uint32(1), middles, middles + np.uint32(1)])


def main():
    bits = inputs()
    values = bits.view(np.float32)
    printed = subprocess.run([sys.argv[1]], input=bits.tobytes(), check=True, capture_output=True)
    at = failures = 0
    for name, dtype, code in TYPES:
        ours = np.frombuffer(printed.stdout, dtype=code, count=len(bits), offset=at)
        at += ours.nbytes
        with np.errstate(all="ignore"):
            theirs = values.astype(dtype)
            both_nan = np.isnan(theirs) & np.isnan(ours.view(dtype))
        theirs = theirs.view(code)
        sign = code(1 << (8 * code().itemsize - 1))
        same = (ours == theirs) | (both_nan & ((ours & sign) == (theirs & sign)))
        for i in np.flatnonzero(~same)[:5]:
            print(f"{name} of {bits[i]:08x}: {ours[i]:#x}, ml_dtypes has {theirs[i]:#x}")
        failures += int((~same).sum())
    print(f"{len(TYPES)} types, {len(bits)} values each, {failures} differ")
    return 0 if failures == 0 and at == len(printed.stdout) else 1


sys.exit(main())
