#!/usr/bin/env python3
"""Golden cases of positions through the program: `position_cases_cli.py TENON CASES.json`.

Each case that a command can answer is put to it: options alone where they say everything, else a
tiny folder that is written here. What comes out is compared within the case's own tolerance; values
that a command prints as float32 within the column for those. TENON_CASES names another file of
cases. What no command answers is counted with the reason.
"""

import collections
import json
import math
import os
import struct
import subprocess
import sys
import tempfile


class Unanswerable(Exception):
    """No command shows what the case asks for."""


# --- numbers and files ---


def flatten(value):
    if isinstance(value, list):
        return [x for item in value for x in flatten(item)]
    return [value]


def f32(x):
    return struct.unpack("<f", struct.pack("<f", x))[0]


def pack(dtype, values):
    if dtype == "F32":
        return struct.pack("<%df" % len(values), *values)
    if dtype == "F16":
        return struct.pack("<%de" % len(values), *values)
    words = (struct.unpack("<I", struct.pack("<f", v))[0] for v in values)  # BF16: exact ones only
    return b"".join(struct.pack("<H", w >> 16) for w in words)


def unpack(dtype, raw):
    if dtype == "F32":
        return list(struct.unpack("<%df" % (len(raw) // 4), raw))
    if dtype == "F16":
        return list(struct.unpack("<%de" % (len(raw) // 2), raw))
    words = struct.unpack("<%dH" % (len(raw) // 2), raw)
    return [struct.unpack("<f", struct.pack("<I", w << 16))[0] for w in words]


def write_safetensors(path, tensors, total=None):
    """Tensors as (dtype, shape, values); with `total` bytes of data, zeros that need no room."""
    header, data = {}, b""
    for name, (dtype, shape, values) in tensors.items():
        raw = values if isinstance(values, bytes) else pack(dtype, flatten(values))
        size = math.prod(shape) * (4 if dtype == "F32" else 2)
        start = len(data) if total is None else (total[name])
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [start, start + size]}
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)
        if total is not None:
            file.truncate(8 + len(text) + max(h["data_offsets"][1] for h in header.values()))


def read_safetensors(path):
    with open(path, "rb") as file:
        raw = file.read()
    n = struct.unpack("<Q", raw[:8])[0]
    out = {}
    for name, entry in json.loads(raw[8 : 8 + n]).items():
        if name != "__metadata__":
            begin, end = entry["data_offsets"]
            out[name] = unpack(entry["dtype"], raw[8 + n + begin : 8 + n + end])
    return out


# --- one case ---


class Case:
    def __init__(self, raw, tenon, folder):
        self.raw, self.tenon, self.folder = raw, tenon, folder
        self.id, self.group = raw["id"], raw["group"]
        self.params, self.inputs, self.expected = raw["params"], raw["inputs"], raw["expected"]
        self.compared, self.failures, self.seen = 0, [], set()

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, *args, status=0, both=False):
        """What it prints: on standard error when it is to fail, unless an answer is a no."""
        done = subprocess.run(
            [self.tenon, *map(str, args)], capture_output=True, text=True, timeout=60, check=False
        )
        if done.returncode != status:
            raise RuntimeError(
                "tenon %s: status %d\n%s" % (" ".join(map(str, args)), done.returncode, done.stderr)
            )
        return done.stderr if status and not both else done.stdout

    def json(self, *args):
        return json.loads(self.run(*args, "--json"))

    def embed(self, *args):
        """Vectors: float32 numbers, of which JSON has as many digits as tell them apart."""

        def single(value):
            return [single(v) for v in value] if isinstance(value, list) else f32(value)

        return single(self.json("embed", *args)["values"])

    def model(self, config, tensors=None, total=None):
        """A folder with this config; without tensors one that says nothing."""
        path = tempfile.mkdtemp(dir=self.folder)
        with open(os.path.join(path, "config.json"), "w", encoding="utf-8") as file:
            json.dump(config, file)
        tensors = tensors or {"w": ("F32", [1], [0])}
        write_safetensors(os.path.join(path, "model.safetensors"), tensors, total)
        return path

    def tolerance(self, column):
        tol = self.raw["tol"]
        return tol.get(column, 0), tol["kind"]

    def compare(self, name, got, column="f64", wanted=None, least=0.0):
        """`least`: what the output's own rounding may add, absolute."""
        if wanted is None:
            if name not in self.expected:
                return
            wanted = self.expected[name]
        self.seen.add(name)
        self.compared += 1
        wanted, got = flatten(wanted), flatten(got)
        limit, kind = self.tolerance(column)
        if len(wanted) != len(got):
            self.failures.append("%s: %d values instead of %d" % (name, len(got), len(wanted)))
            return
        for i, (w, g) in enumerate(zip(wanted, got)):
            if isinstance(w, str) or isinstance(g, str) or w is None or g is None:
                fine = w == g
            else:
                within = limit * (abs(w) if kind == "rel" else 1)
                fine = abs(w - g) <= within + least
            if not fine:
                self.failures.append("%s[%d]: %r instead of %r" % (name, i, g, w))
                return


# --- rope_inv_freq ---

SCALING = (
    "alpha attention_factor beta_fast beta_slow extrapolation_factor factor high_freq_factor "
    "long_factor low_freq_factor mscale mscale_all_dim original_max_position_embeddings "
    "partial_rotary_factor rope_type short_factor truncate"
).split()


def scaling_of(params):
    return {k: params[k] for k in SCALING if k in params}


def rope_args(case):
    """The same rotation by options alone, or as a model; both where both can say it."""
    p = case.params
    width = p.get("rotary_dim", p.get("head_dim"))
    scaling = scaling_of(p)
    partial = "partial_rotary_factor" in p
    length = ["--length", case.inputs["seq_len"]] if "seq_len" in case.inputs else []
    config = {
        "model_type": "llama",
        "hidden_size": width,
        "num_attention_heads": 1,
        "rope_theta": p["theta"],
        "rope_scaling": {k: v for k, v in scaling.items() if k != "partial_rotary_factor"},
    }
    if partial:
        config["partial_rotary_factor"] = p["partial_rotary_factor"]
    if "max_position_embeddings" in p:
        config["max_position_embeddings"] = p["max_position_embeddings"]
    ways = [[case.model(config), *length]]
    if "max_position_embeddings" not in p and (p["rope_type"] == "proportional" or not partial):
        ways.append(
            ["--rotary-dim", width, "--theta", p["theta"], "--rope-scaling", json.dumps(scaling)]
            + length
        )
    return ways


def nearly(a, b):
    return abs(a - b) <= 1e-12 * abs(b)


def zone(plain, scaled, factor):
    return "keep" if scaled == plain else "divide" if nearly(scaled, plain / factor) else "smooth"


def compare_arguments(case, exact, ggml):
    """The numbers behind the frequencies."""
    case.compare("effective_base", exact["base"])
    case.compare("softmax_scale_multiplier", exact["softmax_scale"])
    case.compare("ggml_attn_factor_argument", ggml["ggml"]["attn_factor"], "f32")
    kernel = ggml["attention_factor"] / ggml["ggml"]["attn_factor"]
    case.compare("ggml_kernel_mscale", kernel, "f32")
    case.compare("low_high", exact["ramp"] or [])


def compare_raw_limits(case):
    """Limits before they are cut to whole pairs; they stay cut to the pairs that there are."""
    if "corr_raw" not in case.expected:
        return
    width = case.params["rotary_dim"]
    scaling = dict(scaling_of(case.params), truncate=False)
    out = case.json("rope", "--rotary-dim", width, "--theta", case.params["theta"], "--precision",
                    "exact", "--rope-scaling", json.dumps(scaling))  # fmt: skip
    low, high = case.expected["corr_raw"]
    case.compare("corr_raw", out["ramp"], "f64", [max(low, 0), min(high, width - 1)])


def compare_stretching(case, exact):
    """What is not printed, but follows from the frequencies."""
    p, inv = case.params, exact["inv_freq"]
    width = p.get("rotary_dim", p.get("head_dim"))
    plain = case.json("rope", "--rotary-dim", width, "--theta", p["theta"], "--precision", "exact")
    plain = plain["inv_freq"]
    if "zone" in case.expected:
        case.compare("zone", [zone(a, b, p["factor"]) for a, b in zip(plain, inv)])
        case.compare("gguf_rope_freqs_weight", [a / b for a, b in zip(plain, inv)])
    if "ramp" in case.expected:
        s = exact["factor"]
        case.compare("ramp", [(a - b) / (a - a / s) for a, b in zip(plain, inv)])


def run_inv_freq(case):
    for way in rope_args(case):
        exact = case.json("rope", *way, "--precision", "exact")
        hf = case.json("rope", *way, "--precision", "hf")
        ggml = case.json("rope", *way, "--precision", "ggml")
        inv = exact["inv_freq"]
        case.compare("inv_freq", inv)
        case.compare("inv_freq", hf["inv_freq"], "f32")
        case.compare("inv_freq_f32_hf", hf["inv_freq"], "f32")
        case.compare("inv_freq_f32_ggml", ggml["inv_freq"], "f32")
        case.compare("wavelength", exact["wavelength"])
        case.compare("inv_freq_nonzero", [x for x in inv if x != 0])
        case.compare("rope_angles", sum(x != 0 for x in inv))
        case.compare("inv_freq_first4", inv[:4])
        case.compare("inv_freq_last2", inv[-2:])
        case.compare("rotary_dim", exact["rotary_dim"])
        case.compare("attention_factor", exact["attention_factor"])
        case.compare("attention_factor", hf["attention_factor"], "f32")
        case.compare("attention_factor", ggml["attention_factor"], "f32")
        case.compare("used", "long" if exact["long_factors"] else "short")
        compare_arguments(case, exact, ggml)
        compare_stretching(case, exact)
    compare_raw_limits(case)


# --- vectors that are turned ---

LAYOUTS = {"half": "half", "interleaved": "interleaved"}


def rope_config(case, width):
    """A family that turns as the case says, one head wide."""
    p = case.params
    config = {
        "model_type": "llama",
        "hidden_size": width,
        "num_attention_heads": 1,
        "rope_theta": p.get("theta", 10000),
        "max_position_embeddings": 4096,
    }
    if p.get("sign") == -1:
        config["model_type"] = "nanochat"
    sections = p.get("mrope_section", p.get("dimension_sections"))
    if sections is not None:
        inter = p.get("interleaved_mrope", "dimension_sections" in p)
        config["model_type"] = "qwen3_vl_text" if inter else "qwen2_vl_text"
        config["head_dim"] = width
        config["rope_scaling"] = {"rope_type": "default", "mrope_section": sections}
        if inter:
            config["rope_scaling"]["mrope_interleaved"] = True
    return config


def turn(case, rows, positions, precision):
    """Row i at position i; positions as a list, or as several of them."""
    width = len(rows[0])
    tensors = {"model.embed_tokens.weight": ("F32", [len(rows), width], rows)}
    args = [case.model(rope_config(case, width), tensors), "--pos", "rope"]
    args += ["--ids", ",".join(map(str, range(len(rows)))), "--precision", precision]
    style = case.params.get("style", "half")
    if case.params.get("sign") != -1:
        args += ["--rope-layout", LAYOUTS[style]]
    if case.params.get("rotary_dim", width) != width:
        args += ["--rotary-dim", case.params["rotary_dim"]]
    streams = positions if isinstance(positions[0], list) else [positions]
    for stream in streams:
        args += ["--positions", ",".join(map(str, stream))]
    out = case.embed(*args)
    if case.params.get("sign") == -1:  # the only family of that kind normalises its rows first
        norm = [math.sqrt(sum(v * v for v in row) / width + 1e-6) for row in rows]
        out = [[v * scale for v in row] for row, scale in zip(out, norm)]
    return out


def angles_by_cosine(case, width, positions, precision):
    """cos and sin of every pair at each position: what turns a vector of ones and zeros."""
    style = case.params.get("style", "half")
    half = style == "half"
    row = [1, 0] * (width // 2) if not half else [1] * (width // 2) + [0] * (width // 2)
    n = len(positions[0]) if isinstance(positions[0], list) else len(positions)
    out = turn(case, [row] * n, positions, precision)
    if half:
        return [(r[: width // 2], r[width // 2 :]) for r in out]
    return [(r[0::2], r[1::2]) for r in out]


def compare_table(case, name, precision):
    if name not in case.expected:
        return
    found = angles_by_cosine(case, case.params["head_dim"], case.inputs["positions"], precision)
    case.seen.add(name)
    for i, (cos, sin) in enumerate(found):
        row = case.expected[name][i]
        ulp = 2.0**-23
        for what, got in (("cos", cos), ("sin", sin)):
            worst = max(abs(a - b) for a, b in zip(row[what], got))
            case.compared += 1
            if worst > ulp or len(row[what]) != len(got):
                case.failures.append("%s[%d].%s: %g off" % (name, i, what, worst))
        if "theta" in row:
            worst = max(abs(math.cos(f32(a)) - b) for a, b in zip(row["theta"], cos))
            if worst > ulp:
                case.failures.append("%s[%d].theta: %g off, by the cosine" % (name, i, worst))


def compare_turned(case, name, rows, positions):
    for precision in ("exact", "hf"):
        case.compare(name, turn(case, rows, positions, precision), "f32")


def run_axes(case):
    p = case.params
    pairs = p["pairs"]
    model = case.model(rope_config(case, 2 * pairs))
    hf = case.json("rope", model, "--precision", "hf")["stream"]
    ggml = case.json("rope", model, "--precision", "ggml")["stream"]
    case.compare("axis_of_pair", hf)
    case.compare("axis_of_pair_ggml", ggml)
    case.compare("counts", [hf.count(s) for s in range(max(hf) + 1)])
    case.compare("pairs_that_differ_from_hf", [i for i in range(pairs) if hf[i] != ggml[i]])


def run_streams(case):
    x, places = case.inputs["x"], case.inputs["position_thw"]
    positions = [[p] for p in places]
    compare_turned(case, "y", [x], positions)
    cos, sin = angles_by_cosine(case, len(x), positions, "exact")[0]
    if "angles" in case.expected:
        wanted = case.expected["angles"]
        case.compare("angles", cos, "f32", [math.cos(a) for a in wanted])
        case.compare("angles", sin, "f32", [math.sin(a) for a in wanted])
    if "axis_of_pair" in case.expected:
        model = case.model(rope_config(case, len(x)))
        case.compare("axis_of_pair", case.json("rope", model, "--precision", "hf")["stream"])


def run_apply(case):
    p, i = case.params, case.inputs
    width = p.get("head_dim")
    if "scheme" in p:
        raise Unanswerable("a rotation inside of a vision tower: no command shows its layers")
    if "pairs" in p:
        run_axes(case)
    elif "position_thw" in i:
        run_streams(case)
    elif "positions" in i:
        compare_turned(case, "rows", [i["x"]] * len(i["positions"]), i["positions"])
        compare_table(case, "table_f32_hf", "hf")
        compare_table(case, "table_f32_ggml", "ggml")
    elif p.get("inverse"):
        case.compare("x", turn(case, [case.expected["x"]], [i["position"]], "exact"), "f32", i["y"])
    elif "x" in i:
        compare_turned(case, "y", [i["x"]], [i["position"]])
    else:
        basis = [[float(r == c) for c in range(width)] for r in range(width)]
        compare_turned(case, "columns_are_images_of_basis_vectors", basis, [i["position"]] * width)


# --- rope_property, rope_precision ---


def run_property(case):
    p, i = case.params, case.inputs
    if "q" in i:
        q, k, dots = i["q"], i["k"], case.expected["dots"]
        got = []
        for d in dots:
            a, b = turn(case, [q, k], [d["m"], d["n"]], "exact")
            got.append(sum(x * y for x, y in zip(a, b)))
        case.compare("dots", got, "f32", [d["dot"] for d in dots])
    elif "distance" in i:
        found = angles_by_cosine(case, p["rotary_dim"], i["distance"], "exact")
        case.compare("mean_cos", [sum(cos) / len(cos) for cos, _ in found], "f32")
    else:
        out = case.json("rope", "--rotary-dim", p["rotary_dim"], "--theta", p["theta"],
                        "--context", p["context"], "--precision", "exact")  # fmt: skip
        case.compare("shortest", out["wavelength"][0])
        case.compare("longest", out["wavelength"][-1])
        turns = sum(w <= out["context"] for w in out["wavelength"])
        case.compare("pairs_completing_a_turn", turns)
        # The slow limit of yarn is the pair that turns once.
        scaling = {"rope_type": "yarn", "factor": 1, "truncate": False,
                   "original_max_position_embeddings": p["context"]}  # fmt: skip
        out = case.json("rope", "--rotary-dim", p["rotary_dim"], "--theta", p["theta"],
                        "--precision", "exact", "--rope-scaling", json.dumps(scaling))  # fmt: skip
        case.compare("real_valued_index", out["ramp"][1])


def ulp(dtype, value):
    _, exponent = math.frexp(value)
    if dtype == "f16":
        return 2.0 ** (max(exponent, -13) - 11)
    return 2.0 ** (exponent - 8)


def run_table_cast(case):
    p, positions = case.params, case.inputs["positions"]
    for dtype in ("bf16", "f16"):
        path = case.path(dtype + ".safetensors")
        case.run("rope", "--rotary-dim", p["rotary_dim"], "--theta", p["theta"], "--tables", path,
                 "--length", max(positions) + 1, "--dtype", dtype)  # fmt: skip
        tables, pairs = read_safetensors(path), p["rotary_dim"] // 2
        for row, wanted in zip(positions, case.expected["rows"]):
            for what in ("cos", "sin"):
                got = tables[what][row * pairs : (row + 1) * pairs]
                case.compared += 1
                for g, w in zip(got, wanted[what + "_" + dtype]):
                    if abs(g - w) > case.raw["tol"]["ulp"] * ulp(dtype, w):
                        where = (what, dtype, row, g, w)
                        case.failures.append("%s %s at %d: %r instead of %r" % where)
    case.seen.add("rows")


def run_drift(case):
    """Documents how float32 drifts: the distances must have the sizes that it says."""
    width = case.params["rotary_dim"]
    rows = case.expected["max_abs_cos_difference"]
    positions = [r["position"] for r in rows]
    cos = {p: angles_by_cosine(case, width, positions, p) for p in ("exact", "hf", "ggml")}
    for i, row in enumerate(rows):
        for key, a, b in (
            ("hf_f32_vs_exact", "hf", "exact"),
            ("ggml_f32_vs_exact", "ggml", "exact"),
            ("hf_vs_ggml", "hf", "ggml"),
        ):
            got = max(abs(x - y) for x, y in zip(cos[a][i][0], cos[b][i][0]))
            case.compared += 1
            if not abs(got - row[key]) <= 0.05 * row[key] + 2.0**-23:
                case.failures.append("%s at %d: %g, not %g" % (key, row["position"], got, row[key]))
    case.seen.add("max_abs_cos_difference")


def run_precision(case):
    (run_table_cast if "rows" in case.expected else run_drift)(case)


# --- biases ---

FORMS = {
    "bias_bloom": "keys",
    "bias_ggml": "distance",
    "bias_mpt": "last",
    "bias_falcon": "rounded",
}


def mpt_slopes(n, most):
    whole = 1 << (n - 1).bit_length()
    slopes = [2.0 ** (-(i + 1) * most / whole) for i in range(whole)]
    return slopes if whole == n else (slopes[1::2] + slopes[0::2])[:n]


def ggml_slopes(n, most):
    whole = 1 << (n.bit_length() - 1)
    m0, m1 = 2.0 ** (-most / whole), 2.0 ** (-most / 2 / whole)
    return [m0 ** (h + 1) if h < whole else m1 ** (2 * (h - whole) + 1) for h in range(n)]


def close(a, b, limit):
    return all(abs(x - y) <= limit * abs(x) for x, y in zip(a, b))


def run_alibi(case):
    n, most = case.params["n_head"], case.params.get("max_bias", 8)
    args = ["bias", "--kind", "alibi", "--heads", n, "--max-bias", most]
    slopes = case.json(*args)["slopes"]
    for name in ("slopes", "slopes_ggml", "slopes_mpt"):
        case.compare(name, slopes)
    case.compare("ggml_formula_agrees", close(slopes, ggml_slopes(n, most), 1e-6))
    case.compare("mpt_formula_agrees", close(slopes, mpt_slopes(n, most), 1e-13))
    for name, form in FORMS.items():
        if name in case.expected:
            keys = case.inputs.get("k_len", case.inputs.get("seq_len"))
            queries = case.inputs.get("q_len", keys)
            path = case.path("alibi.safetensors")
            wide = ["--head-dim", case.params["head_dim"]] if form == "rounded" else []
            more = ["--form", form, "--length", keys, "--tables", path, "--force", *wide]
            case.run(*args, *more)
            rows = read_safetensors(path)["bias"]
            rows = [rows[h * keys * keys :][: queries * keys] for h in range(n)]
            case.compare(name, rows, "f32")


def t5_args(p):
    return ["--kind", "t5", "--buckets", p["num_buckets"], "--max-distance", p["max_distance"],
            "--side", "encoder" if p["bidirectional"] else "decoder"]  # fmt: skip


def run_t5(case):
    p = case.params
    if "table" not in case.inputs:
        distances = case.inputs["relative_position"]
        last = max(map(abs, distances))
        buckets = case.json("bias", *t5_args(p), "--length", last + 1)["buckets"]
        case.compare("bucket", [buckets[d + last] for d in distances])
        return
    queries, keys = case.inputs["q_len"], case.inputs["k_len"]
    config = {"model_type": "t5", "d_model": 8, "num_heads": p["n_head"],
              "relative_attention_num_buckets": p["num_buckets"],
              "relative_attention_max_distance": p["max_distance"]}  # fmt: skip
    name = "%s.block.0.layer.0.SelfAttention.relative_attention_bias.weight"
    shape = [p["num_buckets"], p["n_head"]]
    tensors = {name % side: ("F32", shape, case.inputs["table"]) for side in ("encoder", "decoder")}
    path = case.path("t5.safetensors")
    length = max(queries, keys)
    side = "encoder" if p["bidirectional"] else "decoder"
    model = case.model(config, tensors)
    case.run("bias", model, "--side", side, "--length", length, "--tables", path)
    bias, heads = read_safetensors(path)["bias"], range(p["n_head"])
    got = [bias[(h * length + q) * length :][:keys] for h in heads for q in range(queries)]
    case.compare("bias_head_q_k", got, "f32")


def run_deberta(case):
    p, path = case.params, case.path("deberta.safetensors")
    queries, keys = case.inputs["q_len"], case.inputs["k_len"]
    length = max(queries, keys)
    distance = p.get("max_relative_positions", p.get("max_position"))
    buckets = ["--buckets", p["position_buckets"]] if "position_buckets" in p else []
    case.run("bias", "--kind", "deberta", "--max-distance", distance, *buckets, "--length", length,
             "--tables", path)  # fmt: skip
    rows = read_safetensors(path)
    for name, key in (("content_rows", "c2p"), ("position_rows", "p2c")):
        case.compare(key, [rows[name][q * length :][:keys] for q in range(queries)])


# --- sinusoids ---


def sinusoids(case, config, names, positions, layout):
    width = case.params["d"]
    tensors = {n: ("F32", [4, width], [0.0] * (4 * width)) for n in names}
    ids = ["--ids", ",".join("3" for _ in positions), "--positions", ",".join(map(str, positions))]
    more = ["--sinusoidal-layout", layout] if layout else []
    return case.model(config, tensors), ["--pos", "sinusoidal", *ids, *more]


def compare_sinusoids(case, rows, args, expected):
    for precision in ("exact", "hf"):
        got = case.embed(*args, "--precision", precision)
        got = [g for g, keep in zip(got, rows) if keep]
        case.compare("rows", got, "f32", [e for e, keep in zip(expected, rows) if keep])
        if precision == "hf" and "f32_hf" in case.expected:
            wanted = [e for e, keep in zip(case.expected["f32_hf"], rows) if keep]
            case.compare("f32_hf", got, "f32", wanted)


def run_fairseq_table(case):
    """Rows from the first that a token can have: padding's, and those after it."""
    pad, width = case.params["padding_idx"], case.params["d"]
    config = {"model_type": "m2m_100", "d_model": width, "pad_token_id": pad, "encoder_layers": 1}
    tensors = {"model.shared.weight": ("F32", [8, width], [0.0] * (8 * width))}
    n = case.inputs["rows_requested"] - pad - 1
    ids = [pad] + [pad + 2] * n
    out = case.embed(case.model(config, tensors), "--ids", ",".join(map(str, ids)))
    case.compare("table", out, "f32", case.expected["table"][pad:])


def run_sinusoidal(case):
    p, width = case.params, case.params["d"]
    if "padding_idx" in p:
        run_fairseq_table(case)
        return
    if p.get("base", 10000) != 10000:
        raise Unanswerable("another base of sinusoids than 10000: no option, and no family has one")
    positions = case.inputs["positions"]
    config = {"model_type": "gpt2", "n_embd": width, "n_head": 1}
    names = ["wte.weight"]
    keep = [True] * len(positions)
    if p["divisor"] == "d":
        layout = "interleaved" if p["layout"] == "interleaved" else "half"
    else:
        # fairseq's spacing comes with the family, whose positions begin behind the padding.
        layout, names = None, ["model.shared.weight"]
        config = {"model_type": "m2m_100", "d_model": width, "pad_token_id": 0}
        keep = [x > 0 for x in positions]
        positions = [max(x - 1, 0) for x in positions]
        if width < 4:
            raise Unanswerable("a width that fairseq's spacing divides by zero for: refused")
    model, args = sinusoids(case, config, names, positions, layout)
    compare_sinusoids(case, keep, [model, *args], case.expected["rows"])


# --- the input of the first block ---


def marked_rows(n):
    """Row r of a table of positions shows itself through a norm: it is largest at r."""
    return [[1.0 if c == r else 0.0 for c in range(n)] for r in range(n)]


def bert(kind, rows, width, extra=None, words=None):
    config = {"model_type": kind, "hidden_size": width, "num_attention_heads": 1,
              "max_position_embeddings": rows, "type_vocab_size": 1, **(extra or {})}  # fmt: skip
    words = words or [[0.0] * width] * 16
    tensors = {
        "embeddings.word_embeddings.weight": ("F32", [len(words), width], words),
        "embeddings.token_type_embeddings.weight": ("F32", [1, width], [0.0] * width),
        "embeddings.LayerNorm.weight": ("F32", [width], [1.0] * width),
        "embeddings.LayerNorm.bias": ("F32", [width], [0.0] * width),
    }
    return config, tensors


def rows_taken(case, kind, extra, args, n=16):
    config, tensors = bert(kind, n, n, extra)
    tensors["embeddings.position_embeddings.weight"] = ("F32", [n, n], marked_rows(n))
    values = case.embed(case.model(config, tensors), *args)
    return [v.index(max(v)) for v in values]


def run_position_ids(case):
    p, i = case.params, case.inputs
    if "past" in i and "seq_len" in i:
        ids = ",".join("3" for _ in range(i["seq_len"]))
        extra = {"pad_token_id": 0}
        rows = rows_taken(case, "bert", extra, ["--ids", ids, "--start", i["past"]])
        case.compare("table_rows", rows)
    elif "padding_idx" in p and "input_ids" in i:
        extra = {"pad_token_id": p["padding_idx"]}
        rows = []
        for ids in i["input_ids"]:
            args = ["--ids", ",".join(map(str, ids)), "--start", p.get("past", 0)]
            rows.append(rows_taken(case, "roberta", extra, args))
        case.compare("position_ids", rows)
    else:
        raise Unanswerable("positions of an image's tokens: the library's, no command counts them")


def run_norm(case):
    p, x = case.params, case.inputs["x"]
    width, gamma = len(x), case.inputs["gamma"]
    for precision in ("exact", "hf"):
        if "beta" in case.inputs:
            config, tensors = bert("bert", 4, width, {"layer_norm_eps": p["eps"]}, [x])
            zeros = ("F32", [4, width], [0.0] * 4 * width)
            tensors["embeddings.position_embeddings.weight"] = zeros
            tensors["embeddings.LayerNorm.weight"] = ("F32", [width], gamma)
            tensors["embeddings.LayerNorm.bias"] = ("F32", [width], case.inputs["beta"])
            args = ["--ids", "0"]
        else:
            # The norm in front of attention, through a projection that changes nothing. Gemma
            # scales its rows by the root of the width, here 2.
            scale = math.sqrt(width) if p["plus_one"] else 1
            eye = [[float(r == c) for c in range(width)] for r in range(width)]
            config = {"model_type": "gemma" if p["plus_one"] else "llama", "hidden_size": width,
                      "num_attention_heads": 1, "head_dim": width, "rms_norm_eps": p["eps"],
                      "num_hidden_layers": 1}  # fmt: skip
            tensors = {
                "model.embed_tokens.weight": ("F32", [1, width], [v / scale for v in x]),
                "model.layers.0.input_layernorm.weight": ("F32", [width], gamma),
            }
            for part in "qk":
                name = "model.layers.0.self_attn.%s_proj.weight" % part
                tensors[name] = ("F32", [width, width], eye)
            args = ["--ids", "0", "--stage", "qk", "--positions", "0"]
        got = case.embed(case.model(config, tensors), *args, "--precision", precision)
        case.compare("y", got, "f32")


def gemma(case, dtype, rows, kind="gemma2"):
    width = len(rows[0])
    config = {"model_type": kind, "hidden_size": width, "num_attention_heads": 1, "head_dim": 8}
    tensors = {"model.embed_tokens.weight": (dtype, [len(rows), width], rows)}
    return case.model(config, tensors)


def run_embed_scale(case):
    width = case.params["d"]
    if "row" in case.inputs:
        row = case.inputs["row"]
        row = [row + [0.0] * (width - len(row))]
        n = len(case.inputs["row"])
        got = case.embed(gemma(case, "F32", row), "--ids", "0", "--precision", "ggml")
        case.compare("f32_scale", got[0][:n], "f32")
        # The product, too, is rounded to BF16 there; the case stops before that.
        got = case.embed(gemma(case, "BF16", row), "--ids", "0", "--precision", "hf")
        wanted = unpack("BF16", b"".join(bf16(x) for x in case.expected["bf16_scale"]))
        case.compare("bf16_scale", got[0][:n], "f64", wanted)
        return
    ones = [[1.0] * width]
    for name, dtype, precision in (("f64", "F32", "exact"), ("f32", "F32", "hf"),
                                   ("bf16", "BF16", "hf"), ("f16", "F16", "hf")):  # fmt: skip
        got = case.embed(gemma(case, dtype, ones), "--ids", "0", "--precision", precision)
        case.compare(name, got[0][0], "f64", f32(case.expected[name]))


def bf16(x):
    """Rounded to nearest even."""
    word = struct.unpack("<I", struct.pack("<f", x))[0]
    return struct.pack("<H", (word + 0x7FFF + (word >> 16 & 1)) >> 16)


def matrix(rows):
    return ("F32", [len(rows), len(rows[0])], rows)


def run_albert(case):
    p, i = case.params, case.inputs
    narrow, wide = p["E"], p["H"]
    config = {"model_type": "albert", "embedding_size": narrow, "hidden_size": wide,
              "num_attention_heads": 1, "layer_norm_eps": p["eps"],
              "max_position_embeddings": len(i["position"])}  # fmt: skip
    tensors = {
        "embeddings.word_embeddings.weight": matrix(i["word"]),
        "embeddings.position_embeddings.weight": matrix(i["position"]),
        "embeddings.token_type_embeddings.weight": matrix(i["token_type"]),
        "embeddings.LayerNorm.weight": ("F32", [narrow], i["gamma"]),
        "embeddings.LayerNorm.bias": ("F32", [narrow], i["beta"]),
        "encoder.embedding_hidden_mapping_in.weight": matrix(i["proj_weight_out_in"]),
        "encoder.embedding_hidden_mapping_in.bias": ("F32", [wide], i["proj_bias"]),
    }
    model = case.model(config, tensors)
    more = ["--type-ids", ",".join(map(str, i["token_type_ids"]))] if "token_type_ids" in i else []
    for precision in ("exact", "hf"):
        ids = ",".join(map(str, i["ids"]))
        got = case.embed(model, "--ids", ids, *more, "--precision", precision)
        case.compare("out", got, "f32")


def run_embedding(case):
    p, i = case.params, case.inputs
    if "proj_weight_out_in" in i:
        run_albert(case)
    elif "weight" in i and "ids" in i:
        tensors = {"model.embed_tokens.weight": ("F32", [p["V"], p["d"]], i["weight"])}
        model = case.model({"model_type": "llama"}, tensors)
        ids = ",".join(map(str, i["ids"]))
        case.compare("rows", case.embed(model, "--ids", ids, "--stage", "token"))
    elif "hf_rows" in i:
        # The first row that a token has, and how many have one.
        n, pad = i["hf_rows"], p["padding_idx"]
        extra = {"pad_token_id": pad}
        config, tensors = bert("roberta", n, n, extra)
        tensors["embeddings.position_embeddings.weight"] = ("F32", [n, n], marked_rows(n))
        model = case.model(config, tensors)
        values = case.embed(model, "--ids", pad + 1)
        case.compare("gguf_first_row_is_hf_row", values[0].index(max(values[0])))
        usable = case.expected["gguf_rows"]
        case.run("embed", model, "--ids", pad + 1, "--positions", usable - 1)
        message = case.run("embed", model, "--ids", pad + 1, "--positions", usable, status=2)
        case.compare("gguf_rows", int(message.split("which has ")[1].split(":")[0]))
    else:
        raise Unanswerable("max_norm is an option of a training class, not of a checkpoint")


def run_rounding(case):
    x = case.inputs["x"]
    tensors = {"model.embed_tokens.weight": ("F32", [len(x), 1], x)}
    model, path = case.model({"model_type": "llama"}, tensors), case.path("f16.safetensors")
    case.run("embed", model, "--ids", "0-%d" % (len(x) - 1), "--stage", "token", "--dtype", "F16",
             "-o", path)  # fmt: skip
    case.compare("f16", read_safetensors(path)["embeddings"])


# --- pictures ---


def vit(kind, filters, table, extra=None):
    """A tower that adds positions to patches and nothing else; `filters` is out x in x h x w."""
    width = len(filters)
    config = {"model_type": kind, "hidden_size": width, "num_channels": len(filters[0]),
              "patch_size": len(filters[0][0])}  # fmt: skip
    shape = [width, len(filters[0]), len(filters[0][0]), len(filters[0][0][0])]
    names = {
        "vit": ("embeddings.patch_embeddings.projection.", "embeddings.position_embeddings"),
        "siglip_vision_model": (
            "vision_model.embeddings.patch_embedding.",
            "vision_model.embeddings.position_embedding.weight",
        ),
    }[kind]
    places = [1] if kind == "vit" else []
    tensors = {names[0] + "weight": ("F32", shape, filters),
               names[1]: ("F32", places + [len(table), width], table), **(extra or {})}  # fmt: skip
    return config, tensors, names[0] + "bias"


def write_picture(case, values, shape):
    path = case.path("pixels.npy")
    head = "{'descr': '<f4', 'fortran_order': False, 'shape': (%s,), }" % ", ".join(map(str, shape))
    head += " " * (-(len(head) + 11) % 64) + "\n"
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode())
        file.write(pack("F32", flatten(values)))
    return path


def run_class_token(case):
    """Patches of one pixel, whose channels are the tokens."""
    i = case.inputs
    tokens, width = i["tokens"], len(i["class_embedding"])
    side = math.isqrt(len(tokens))
    eye = [[[[float(r == c)]] for c in range(width)] for r in range(width)]
    cls = {"embeddings.cls_token": ("F32", [1, 1, width], i["class_embedding"])}
    config, tensors, _ = vit("vit", eye, i["position"], cls)
    picture = write_picture(case, [list(c) for c in zip(*tokens)], [width, side, side])
    case.compare("embeddings", case.embed(case.model(config, tensors), "--pixels", picture), "f32")


def run_patch_count(case):
    p = case.params
    side, patch, has_class = p["image_size"], p["patch_size"], p["class_token"]
    rows = case.expected["position_rows"]
    filters = [[[[0.0] * patch] * patch]]
    kind = "vit" if has_class else "siglip_vision_model"
    extra = {"embeddings.cls_token": ("F32", [1, 1, 1], [0.0])} if has_class else {}
    config, tensors, _ = vit(kind, filters, [[float(r)] for r in range(rows)], extra)
    picture = write_picture(case, [0.0] * side * side, [1, side, side])
    got = case.embed(case.model(config, tensors), "--pixels", picture)
    case.compare("patches", len(got) - has_class)
    case.compare("position_rows", got[-1][0] + 1)  # the last token has the last row


def run_patches(case):
    p, i = case.params, case.inputs
    if "weight" in i and "image_chw" in i:
        image = i["image_chw"]
        shape = [len(image), len(image[0]), len(image[0][0])]
        patch, width = p["patch"], p["d"]
        n = (shape[1] // patch) * (shape[2] // patch)
        config, tensors, bias = vit("siglip_vision_model", i["weight"], [[0.0] * width] * n)
        if "bias" in i:
            tensors[bias] = ("F32", [width], i["bias"])
        model, picture = case.model(config, tensors), write_picture(case, image, shape)
        for precision in ("exact", "hf"):
            got = case.embed(model, "--pixels", picture, "--precision", precision)
            case.compare("tokens", got, "f32")
    elif p.get("scheme") == "clip":
        run_class_token(case)
    elif "image_size" in p:
        run_patch_count(case)
    else:
        raise Unanswerable("a tower (Llama 4, Qwen2-VL) or a resizing that no command has")


# --- configs ---

def position_word(info):
    kind = info["position"]["kind"]
    if kind == "relative":
        families = {"t5": "t5_bias", "deberta": "deberta"}
        return families.get(info["architecture"].split("_")[0].split("-")[0])
    return kind


def compare_rope(case, rope, expected, config):
    case_rope = {
        "rope_type": rope["kind"],
        "theta": rope["theta"],
        "rotary_dim": rope["rotary_dim"],
        "style": rope["layout"].replace(" ", "_"),
        "factor": rope["factor"],
        "original_max_position_embeddings": rope["original_context"],
        "attention_factor": rope["attention_factor"],
        "head_dim": rope["head_dim"],
    }
    for key, value in expected.items():
        if key == "attention_factor":  # irrational: the last bit is the library's square root
            case.compare(key, case_rope[key], "f64", value, least=1e-15 * abs(value))
        elif key in case_rope:
            case.compare(key, case_rope[key], "f64", value)
        elif key == "mrope_section":
            streams = rope["stream"]
            case.compare(key, [streams.count(s) for s in range(len(value))], "f64", value)
        elif key == "mrope_interleaved":
            case.compare(key, rope["stream"] != sorted(rope["stream"]), "f64", value)
        elif key in ("low_freq_factor", "high_freq_factor"):
            compare_llama3(case, rope, expected, config)
            case.seen.add(key)


def compare_llama3(case, rope, e, config):
    """Not printed, but frequencies follow from them: recomputed here from those expected."""
    width, got = e["rotary_dim"], rope["inv_freq"]
    original = e["original_max_position_embeddings"]
    low, high, factor = e["low_freq_factor"], e["high_freq_factor"], e["factor"]
    for i, found in enumerate(got):
        f = e["theta"] ** (-2 * i / width)
        wave = 2 * math.pi / f
        smooth = min(max((original / wave - low) / (high - low), 0), 1)
        wanted = (1 - smooth) * f / factor + smooth * f
        if abs(found - wanted) > 1e-12 * wanted:
            case.failures.append("llama3 frequency %d: %r instead of %r" % (i, found, wanted))
            return


def run_rope_config(case, model):
    config, e = case.inputs["config"], case.expected
    rope = case.json("rope", model, "--precision", "exact")
    compare_rope(case, rope, e, config)
    if "layer_types" not in e:
        return
    for layer, kind in enumerate(e["layer_types"]):
        rope = case.json("rope", model, "--layer", layer, "--precision", "exact")
        case.compare("layer_types", rope["layer_type"], "f64", kind)
        if kind in e:
            compare_rope(case, rope, e[kind], config)
            case.seen.add(kind)


def shown_rows(case, config):
    """A model of that family with a table of positions, small and wide enough to be told apart."""
    e, width = case.expected, 16
    rows = 16
    offset = e["offset"]
    config = dict(config, hidden_size=width, num_attention_heads=1,
                  max_position_embeddings=rows - offset)  # fmt: skip
    if config["model_type"] == "opt":
        config.update(word_embed_proj_dim=width, do_layer_norm_before=True)
        names = ("model.decoder.embed_tokens.weight", "model.decoder.embed_positions.weight")
    else:
        names = ("embeddings.word_embeddings.weight", "embeddings.position_embeddings.weight")
    tensors = {} if config["model_type"] == "opt" else bert(config["model_type"], rows, width)[1]
    tensors[names[0]] = ("F32", [16, width], [0.0] * 16 * width)
    tensors[names[1]] = ("F32", [rows, width], marked_rows(rows))
    return case.model(config, tensors), rows


def run_learned_config(case, info):
    e, config = case.expected, case.inputs["config"]
    case.compare("usable_positions", info["position"]["max_positions"])
    if "usable_positions" not in e:
        case.compare("rows", info["position"]["max_positions"] + e["offset"])
    small, rows = shown_rows(case, config)
    values = case.embed(small, "--ids", "3", "--positions", "0")
    case.compare("offset", values[0].index(max(values[0])))
    case.run("embed", small, "--ids", "3", "--positions", rows - e["offset"] - 1)
    case.run("embed", small, "--ids", "3", "--positions", rows - e["offset"], status=2)
    if "rows" in e and "usable_positions" in e:
        case.compare("rows", info["position"]["max_positions"] + e["offset"])
    if "project_in" in e:
        compare_widths(case)
    if "eps" in e:
        compare_norm(case)


def compare_widths(case):
    """In its own sizes, all zeros."""
    e, config = case.expected, case.inputs["config"]
    wide, narrow = e["project_in"]
    shapes = {"model.decoder.embed_tokens.weight": [4, narrow],
              "model.decoder.embed_positions.weight": [e["rows"], wide],
              "model.decoder.project_in.weight": [wide, narrow]}  # fmt: skip
    path = sparse_model(case, shapes, config)
    token = case.json("embed", path, "--ids", "0", "--stage", "token")["shape"][-1]
    case.compare("embedding_width", token)
    case.compare("project_in", [case.json("embed", path, "--ids", "0")["shape"][-1], token])


def compare_norm(case):
    """Values so small that eps shows; a mean that only LayerNorm takes away; as many types."""
    e, width = case.expected, 4
    config, tensors = bert("bert", 4, width, words=[[3e-6, 1e-6, 3e-6, 1e-6]])
    config = dict(case.inputs["config"], hidden_size=width, num_attention_heads=1)
    types = e["token_types"]
    zeros = ("F32", [types, width], [0.0] * types * width)
    tensors["embeddings.token_type_embeddings.weight"] = zeros
    tensors["embeddings.position_embeddings.weight"] = ("F32", [4, width], [0.0] * 4 * width)
    model = case.model(config, tensors)
    args = [model, "--ids", "0", "--precision", "exact", "--type-ids"]
    got = case.embed(*args, types - 1)[0]
    case.run("embed", *args, types, status=2)
    eps = (1e-6 / got[0]) ** 2 - 1e-12
    case.compare("eps", eps, least=1e-6 * e["eps"])
    case.compare("norm", "layer_norm" if abs(got[0] + got[1]) < 1e-6 else "rms_norm")
    case.seen.add("token_types")


def run_config(case):
    e = case.expected
    model = case.model(case.inputs["config"])
    info = case.json("info", model)
    case.compare("position", position_word(info))
    if e["position"] == "rope":
        run_rope_config(case, model)
    elif e["position"] == "learned":
        run_learned_config(case, info)
    elif e["position"] == "alibi":
        config = dict(case.inputs["config"])
        case.compare("max_bias", case.json("bias", case.model(config))["max_bias"])
    elif e["position"] in ("t5_bias", "deberta"):
        bias = case.json("bias", model)
        case.compare("num_buckets", bias["n_buckets"])
        case.compare("max_distance", bias["max_distance"])
        case.compare("position_buckets", bias["n_buckets"])
        case.compare("max_relative_positions", bias["max_distance"])
    elif e["position"] == "sinusoidal":
        run_sinusoidal_config(case)


def run_sinusoidal_config(case):
    """Row of ones: the scale; its difference to the sinusoid: layout, spacing and offset."""
    e, config = case.expected, case.inputs["config"]
    width = config["d_model"]
    rows = [[0.0] * width, [1.0] * width]
    tensors = {"model.shared.weight": ("F32", [2, width], rows)}
    model = case.model(config, tensors)
    zero, one = case.embed(model, "--precision", "exact", "--positions", "3,3", "--ids", "0,1")
    case.compare("embed_scale", one[0] - zero[0], "f64", least=1e-5)
    half, place = width // 2, 3 + e["offset"]
    spacing = {"d": half, "half-1": half - 1}[e["divisor"]]
    f = [10000 ** (-i / spacing) for i in range(half)]
    wanted = [math.sin(place * x) for x in f] + [math.cos(place * x) for x in f]
    if {"half_split": False, "interleaved": True}[e["layout"]]:
        wanted = [v for pair in zip(wanted[:half], wanted[half:]) for v in pair]
    case.compare("layout", zero, "f64", wanted, least=1e-6)
    case.seen.update(("layout", "divisor", "offset"))


# --- tying ---


def sparse_model(case, shapes, config, one=None):
    """A model of zeros that needs no room, in BF16; the first value of the tensor `one` is 1."""
    at, places, tensors = 0, {}, {}
    for name, shape in shapes.items():
        tensors[name] = ("BF16", shape, b"")
        places[name] = at
        at += 2 * math.prod(shape)
    path = case.model(config, tensors, places)
    if one is not None:
        with open(os.path.join(path, "model.safetensors"), "r+b") as file:
            n = struct.unpack("<Q", file.read(8))[0]
            file.seek(8 + n + places[one])
            file.write(pack("BF16", [1.0]))
    return path


def tied_answer(case, path, status):
    return json.loads(case.run("tied", "--json", path, status=status, both=True))


def run_tying(case):
    """The matrix, stored once or twice, and all else as one vector."""
    p = case.params
    if "V" not in p or "d" not in p:
        raise Unanswerable("sizes of a recurrent model, of no family that is known")
    rows, width, tied = p["V"], p["d"], p["tied"]
    rest = case.inputs["total_unique_params"] - (1 if tied else 2) * rows * width
    shapes = {"model.embed_tokens.weight": [rows, width], "model.norm.weight": [rest]}
    if not tied:
        shapes["lm_head.weight"] = [rows, width]
    config = {"model_type": "llama", "vocab_size": rows, "hidden_size": width,
              "tie_word_embeddings": tied}  # fmt: skip
    path = sparse_model(case, shapes, config, None if tied else "lm_head.weight")
    saving = tied_answer(case, path, 0 if tied else 1)["saving"]
    case.compare("embedding_params", saving["parameters"])
    case.compare("bytes_saved_bf16", saving["bytes"])
    case.compare("saving_percent_of_untied", 100 * saving["fraction"])
    total = case.json("info", path)["parameters"]
    case.compare("embedding_share_percent", 100 * saving["parameters"] / total)


def run_tying_check(case):
    i = case.inputs
    if "lm_head" not in i:
        raise Unanswerable("logits: no command multiplies by the output matrix")
    shape = [len(i["embed"]), len(i["embed"][0])]
    tensors = {"model.embed_tokens.weight": ("F32", shape, i["embed"]),
               "lm_head.weight": ("F32", shape, i["lm_head"])}  # fmt: skip
    config = {"model_type": "llama", "vocab_size": shape[0], "hidden_size": shape[1],
              "tie_word_embeddings": False}  # fmt: skip
    out = tied_answer(case, case.model(config, tensors), 1)
    case.compare("bit_equal", out["verdict"] in ("identical", "shared"))
    case.compare("best_scalar", out["evidence"]["scale"])
    case.compare("row_cosine", [out["evidence"]["cosine"]] * shape[0])


RUNNERS = {
    "alibi": run_alibi,
    "config_resolution": run_config,
    "deberta": run_deberta,
    "embed_scale": run_embed_scale,
    "embedding": run_embedding,
    "norm": run_norm,
    "patch_embedding": run_patches,
    "position_ids": run_position_ids,
    "rope_apply": run_apply,
    "rope_inv_freq": run_inv_freq,
    "rope_precision": run_precision,
    "rope_property": run_property,
    "rounding": run_rounding,
    "sinusoidal": run_sinusoidal,
    "t5_bias": run_t5,
    "tying": run_tying,
    "tying_check": run_tying_check,
}

# Groups that no command answers.
REASONS = {
    "attention_scale": "no layer of the first block has it",
    "embedding_bag": "sums of rows: the library's, no command bags",
    "fasttext": "hashes of subwords come with the formats of word vectors",
    "permute": "rows change places in conversions with other names",
    "sincos2d": "sinusoids of a grid: the library's",
    "sinusoidal_property": "properties of rows that other cases show",
    "timestep": "diffusion models are no command's",
    "wordvec_files": "formats of word vectors",
    "xpos": "no family that is known has it",
}


def main():
    tenon = os.path.abspath(sys.argv[1])
    with open(os.environ.get("TENON_CASES", sys.argv[2]), encoding="utf-8") as file:
        cases = json.load(file)["cases"]
    run, failed, compared = 0, 0, 0
    reasons = collections.Counter()
    unseen = collections.Counter()
    for raw in cases:
        with tempfile.TemporaryDirectory() as folder:
            case = Case(raw, tenon, folder)
            runner = RUNNERS.get(case.group)
            try:
                if runner is None:
                    raise Unanswerable(REASONS.get(case.group, "an unknown group"))
                runner(case)
            except Unanswerable as reason:
                reasons["%s: %s" % (case.group, reason)] += 1
                continue
            except (RuntimeError, KeyError, IndexError, TypeError, ValueError) as error:
                case.failures.append("%s: %s" % (type(error).__name__, error))
        run += 1
        compared += case.compared
        if case.compared == 0 and not case.failures:
            case.failures.append("nothing was compared")
        for key in set(case.expected) - case.seen:
            unseen["%s: %s" % (case.group, key)] += 1
        for failure in case.failures:
            print("%s: %s" % (case.id, failure))
        failed += bool(case.failures)
    for reason, n in sorted(reasons.items()):
        print("not answerable: %d of %s" % (n, reason))
    for key, n in sorted(unseen.items()):
        print("not shown by the command: %s, %d cases" % (key, n))
    print("%d cases through the program, %d comparisons, %d failed, %d not answerable"
          % (run, compared, failed, sum(reasons.values())))  # fmt: skip
    return 1 if failed or run == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
