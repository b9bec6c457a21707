"""`embed --image` against `embed --pixels` of what Pillow and NumPy make of the same file.

Usage: compare_pictures.py TENON TENON_GEN GOLDEN_FOLDER
"""
import json
import pathlib
import subprocess
import sys
import tempfile

import numpy
from PIL import Image

SIZE = 12  # of the towers in the golden files
MEAN = [0.48145466, 0.4578275, 0.40821073]
STD = [0.26862954, 0.26130258, 0.27577711]
RECIPES = [
    {"size": SIZE, "do_center_crop": True, "crop_size": SIZE, "resample": 3},
    {"size": {"height": SIZE, "width": SIZE}, "resample": 2},
    {"size": {"shortest_edge": 16}, "do_center_crop": True, "crop_size": {"height": 12, "width": 12},
     "resample": 1, "do_normalize": False},
]


def write_pictures(folder):
    random = numpy.random.default_rng(3)
    pixels = random.integers(0, 256, (20, 31, 4), dtype=numpy.uint8)
    forms = {
        "rgb.png": Image.fromarray(pixels[:, :, :3]),
        "rgba.png": Image.fromarray(pixels),
        "grey.png": Image.fromarray(pixels[:, :, 0]),
        "palette.png": Image.fromarray(pixels[:, :, :3]).quantize(16),
        "high.jpg": Image.fromarray(pixels[:, :, :3].swapaxes(0, 1).copy()),
        "grey.jpg": Image.fromarray(pixels[:, :, 0]),
    }
    for name, image in forms.items():
        image.save(folder / name, **({"quality": 90} if name.endswith("jpg") else {}))
    return [folder / name for name in forms]


def prepare(path, recipe):
    """What the image processors of transformers do, with Pillow."""
    image = Image.open(path).convert("RGB")
    size = recipe["size"]
    if isinstance(size, dict) and "height" in size:
        wanted = (size["width"], size["height"])
    else:
        edge = size if isinstance(size, int) else size["shortest_edge"]
        width, height = image.size
        wanted = (edge, int(edge * height / width)) if width <= height else (
            int(edge * width / height), edge)
    values = numpy.asarray(image.resize(wanted, recipe["resample"]))
    if recipe.get("do_center_crop"):
        top, left = (values.shape[0] - SIZE) // 2, (values.shape[1] - SIZE) // 2
        values = values[top:top + SIZE, left:left + SIZE]
    values = (values.astype(numpy.float64) * (1 / 255)).astype(numpy.float32)
    if recipe.get("do_normalize", True):
        values = (values - numpy.array(MEAN, numpy.float32)) / numpy.array(STD, numpy.float32)
    return values.transpose(2, 0, 1).copy()


def embed(tenon, model, *arguments):
    run = subprocess.run([tenon, "embed", model, "--json", *arguments], capture_output=True,
                         text=True)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


def main():
    tenon, gen, golden = sys.argv[1:4]
    compared = differ = 0
    with tempfile.TemporaryDirectory(dir=".") as place:
        folder = pathlib.Path(place)
        pictures = write_pictures(folder)
        for tower in ["vit", "clip_vision", "siglip_vision", "dinov2_registers"]:
            model = folder / tower
            model.mkdir()
            subprocess.run([gen, "--golden", f"{golden}/{tower}.txt", model], check=True)
            for recipe in RECIPES:
                settings = {"image_mean": MEAN, "image_std": STD, "do_center_crop": False, **recipe}
                (model / "preprocessor_config.json").write_text(json.dumps(settings))
                for picture in pictures:
                    numpy.save(folder / "pixels.npy", prepare(picture, recipe))
                    image = embed(tenon, model, "--image", picture)
                    pixels = embed(tenon, model, "--pixels", folder / "pixels.npy")
                    compared += 1
                    if image["values"] != pixels["values"] or image["shape"] != pixels["shape"]:
                        differ += 1
                        print(f"{tower}, {recipe}, {picture.name}: differ")
    print(f"{compared} pictures through towers, {differ} differ")
    return 1 if differ or not compared else 0


if __name__ == "__main__":
    sys.exit(main())
