"""What is rewritten, given to the loader of llama.cpp. `load_llama.py TENON TENON_GEN`. It must take
every model that came from one it took, and refuse what tenon says it would."""
import os
import sys

if "TENON_ORACLE_GGML" not in os.environ:
    print("TENON_ORACLE_GGML is not set")
    sys.exit(77)

# pylint: disable=wrong-import-position
import gguf
import llama
import rewriting

# Families whose files llama.cpp takes with and without an output matrix.
TIED = ("tied", "tied_q8_0", "tied_v2", "qwen2")


class Loading(rewriting.Rewriting):
    def __init__(self, tenon, generator):
        super().__init__(tenon, generator)
        self.llama = llama.Llama()

    def loads(self, path, what):
        count = self.llama.load(path)
        self.n_loads += 1
        self.check(count is not None, f"{what}: llama.cpp refuses it: {self.llama.why()}")
        return count

    def refused(self, path, what, why):
        count = self.llama.load(path)
        self.check(count is None, f"{what}: llama.cpp takes it")
        self.check(why in self.llama.why(), f"{what}: refused for {self.llama.why()}")



def untie_and_tie(t, model):
    """Both forms load; tie gives back the first file."""
    untied, tied = t.path("untied.gguf"), t.path("tied.gguf")
    before = t.loads(model, model)
    t.run("untie", model, "-o", untied)
    after = t.loads(untied, f"untied {model}")
    rows = next(x for x in gguf.GGUFReader(model).tensors if x.name == "token_embd.weight")
    t.check(after - before == rows.n_elements, f"{model}: {before} and {after} parameters")
    t.run("tie", untied, "-o", tied)
    t.same(tied, model)
    t.run("diff", model, untied, status=1)
    values = t.values(untied)
    t.check(values.pop("output.weight") == values["token_embd.weight"] and
            values == t.values(model), f"{model}: values differ")
    t.remove(untied, tied)


def split_and_merge(t, model):
    count = t.loads(model, model)
    for limit in (("--max-tensors", "7"), ("--max-size", "60MB")):
        folder, merged = t.path("set"), t.path("merged.gguf")
        os.mkdir(folder)
        t.run("split", model, "-o", os.path.join(folder, "m"), *limit)
        t.check(t.loads(t.first(folder), f"set of {model}") == count, f"{model}: other parameters")
        t.run("merge", t.first(folder), "-o", merged)
        t.same(merged, model)
        t.remove(folder, merged)


def edit(t, model):
    """A text that grows and shrinks again; names that stay loadable."""
    count = t.loads(model, model)
    small, large, back = (t.path(name) for name in ("small.gguf", "large.gguf", "back.gguf"))
    t.run("edit", model, "--set", "general.description:string=" + 10 * "x", "-o", small)
    t.run("edit", small, "--set", "general.description=" + 5000 * "x", "-o", large)
    t.run("edit", large, "--set", "general.description=" + 10 * "x", "-o", back)
    t.same(back, small)
    t.check(t.loads(large, f"edited {model}") == count, f"{model}: other parameters")
    t.check(t.values(large) == t.values(model), f"{model}: values differ")
    t.remove(small, large, back)


def convert(t, model):
    for dtype in ("F32", "F16", "BF16", "Q8_0"):
        out = t.path("converted.gguf")
        t.run("convert", model, "--dtype", dtype, "-o", out)
        t.loads(out, f"{model} in {dtype}")
        t.remove(out)


def realign(t, model):
    out, set_ = t.path("aligned.gguf"), t.path("set")
    t.run("edit", model, "--set", "general.alignment:u32=64", "-o", out)
    t.loads(out, f"{model} aligned to 64")
    os.mkdir(set_)
    t.run("split", out, "--max-tensors", "5", "-o", os.path.join(set_, "m"))
    t.loads(t.first(set_), f"set of {model} aligned to 64")
    t.remove(out, set_)


def rename_family(model, family, out):
    """The same tensors under another architecture with the same names."""
    reader = gguf.GGUFReader(model)
    writer = gguf.GGUFWriter(out, family)
    for field in reader.fields.values():
        if field.name.startswith("GGUF.") or field.name == "general.architecture":
            continue
        item = field.types[-1] if field.types[0] == gguf.GGUFValueType.ARRAY else None
        writer.add_key_value(field.name.replace("llama.", family + "."), field.contents(),
                             field.types[0], sub_type=item)
    for tensor in reader.tensors:
        writer.add_tensor(tensor.name, tensor.data, raw_dtype=tensor.tensor_type)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def refusals(t):
    """What tenon refuses, done by force, is what the loader refuses."""
    out, model = t.path("forced.gguf"), t.sample("gemma")
    t.loads(model, "gemma")
    t.run("untie", model, "-o", out, status=3)
    t.run("untie", model, "-o", out, "--force")
    t.refused(out, "gemma, untied", "wrong number of tensors")
    model = t.path("internlm2.gguf")
    rename_family(t.sample("identical"), "internlm2", model)
    t.loads(model, "internlm2")
    t.run("tie", model, "-o", out, "--force", status=0)
    t.refused(out, "internlm2, tied", "output.weight")
    t.remove(out)
    t.run("tie", model, "-o", out, status=3)
    t.check(not os.path.exists(out), "a refusal left a file")
    out, model = t.path("swapped.gguf"), t.sample("tied_be")
    t.run("edit", model, "--set", "general.name:string=x", "-o", out)
    t.refused(out, "big-endian", "")


def main():
    t = Loading(*sys.argv[1:])
    for name in TIED:
        model = t.sample(name)
        for step in (untie_and_tie, split_and_merge, edit, realign):
            step(t, model)
    for name in ("tied", "untied"):
        convert(t, t.sample(name))
    model = t.sample("split")
    t.loads(model, "a set")
    edit_set(t, model)
    refusals(t)
    for model in rewriting.real_models():
        if "gemma" in model:
            untie_and_tie(t, model)
        split_and_merge(t, model)
        edit(t, model)
    t.finish(150)


def edit_set(t, model):
    """A set is untied and tied member by member."""
    untied, tied = t.path("u"), t.path("t")
    for folder in (untied, tied):
        os.mkdir(folder)
    t.run("untie", model, "-o", os.path.join(untied, os.path.basename(model)))
    t.loads(t.first(untied), "a set, untied")
    t.run("tie", t.first(untied), "-o", os.path.join(tied, os.path.basename(model)))
    for name in os.listdir(os.path.dirname(model)):
        t.same(os.path.join(os.path.dirname(model), name), os.path.join(tied, name))
    t.remove(untied, tied)


main()
