#!/usr/bin/env python3
"""BertEmbeddings of a real model for twenty sentences.

    minilm_goldens.py FOLDER OUT_FILE
    minilm_goldens.py --check FOLDER FILE

FOLDER is all-MiniLM-L6-v2. For each sentence the file has its token ids, and for each token the
values of a few columns as transformers computes them in float32; columns move from token to token,
so that together they cover all. The format is described in testdata/golden/README.md. Needs torch,
transformers and tokenizers.
"""

import argparse
import os

import tokenizers
import torch
import transformers

SENTENCES = (
    "The quick brown fox jumps over the lazy dog.",
    "Rotary positions turn queries and keys, never the values.",
    "Was it 1,024 or 1,048,576 rows?",
    "naïve café, coöperate, Ærøskøbing",
    "東京は雨です。",
    "Привет, мир!",
    "a",
    "",
    "[MASK] is a token, and so is [SEP].",
    "unbelievably antidisestablishmentarianism",
    "e = m * c ^ 2; x -> y; if (a != b) return 0;",
    "He said: \"don't!\" -- and left...",
    "one one one one one one one one one one one one",
    "https://example.org/a/b?c=d&e=f#g",
    "\N{GRINNING FACE} \N{ROCKET} \N{PERSONAL COMPUTER}",
    "WEIGHT TYING SAVES A MATRIX",
    "Ein Satz auf Deutsch mit Umlauten: äöüß.",
    "The model reads thirty thousand five hundred and twenty two rows of three hundred and eighty "
    "four numbers, and adds a position and a type to each before it takes the mean away.",
    "Paris is to France as Rome is to Italy.",
    "zyzzyva 99 qwertyuiop",
)
COLUMNS = 12


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--check", action="store_true")
    parser.add_argument("folder")
    parser.add_argument("file")
    args = parser.parse_args()
    torch.set_num_threads(1)
    tokenizer = tokenizers.Tokenizer.from_file(os.path.join(args.folder, "tokenizer.json"))
    tokenizer.no_padding()
    model = transformers.BertModel.from_pretrained(args.folder, dtype=torch.float32)
    lines = []
    for sentence in SENTENCES:
        ids = tokenizer.encode(sentence).ids
        lines.append("ids " + " ".join(map(str, ids)))
        with torch.no_grad():
            rows = model.embeddings(input_ids=torch.tensor([ids]))[0]
        width = rows.shape[1]
        for i, row in enumerate(rows):
            columns = [(ids[i] + 7 * i + 32 * k) % width for k in range(COLUMNS)]
            pairs = " ".join("%d:%.9g" % (c, row[c]) for c in columns)
            lines.append("row %.9g " % row.abs().max() + pairs)
    text = "\n".join(lines) + "\nend\n"
    if args.check:
        raise SystemExit(open(args.file).read() != text)
    with open(args.file, "w") as file:
        file.write(text)


if __name__ == "__main__":
    main()
