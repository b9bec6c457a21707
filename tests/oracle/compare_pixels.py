"""Resizing against Pillow: every filter, random sizes, byte for byte.

Usage: compare_pixels.py LIBTENON
"""
import ctypes
import sys

import numpy
from PIL import Image

CASES = 400
FILTERS = 6


class Picture(ctypes.Structure):
    _fields_ = [("rgb", ctypes.c_void_p), ("height", ctypes.c_uint32), ("width", ctypes.c_uint32)]


def picture(pixels):
    return ctypes.byref(Picture(pixels.ctypes.data, pixels.shape[0], pixels.shape[1]))


def resize(library, filter_number, pixels, height, width):
    out = numpy.zeros((height, width, 3), dtype=numpy.uint8)
    status = library.tenon_pixels_resize(filter_number, picture(pixels), picture(out), None)
    assert status == 0, status
    return out


def main():
    library = ctypes.CDLL(sys.argv[1])
    random = numpy.random.default_rng(1)
    differ = 0
    for case in range(CASES):
        # Some pictures are several times as high as wide, or the other way round.
        sizes = random.integers(1, 20 if case % 8 == 0 else 120, 4)
        sizes[case % 4] = random.integers(1, 300)
        height, width, out_height, out_width = (int(size) for size in sizes)
        if height > 100 * width:
            continue  # Pillow goes down first there
        pixels = random.integers(0, 256, (height, width, 3), dtype=numpy.uint8)
        for number in range(FILTERS):
            wanted = numpy.asarray(Image.fromarray(pixels).resize((out_width, out_height), number))
            if not numpy.array_equal(wanted, resize(library, number, pixels, out_height, out_width)):
                differ += 1
                print(f"filter {number}: {height} x {width} to {out_height} x {out_width} differs")
    print(f"{CASES} pictures, {FILTERS} filters: {differ} differ")
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main())
