/* PyTorch checkpoints in their four containers, named and not read. */
#include <string.h>

#include "fail.h"
#include "probe.h"

/* A zip written by torch.save has all its members in one folder: data.pkl, data/0 ..., version,
 * byteorder. */
static bool is_torch_member(const char *name, size_t n)
{
    const char *slash = memchr(name, '/', n);
    const char *inner;
    size_t len;

    if (slash == NULL)
        return false;
    inner = slash + 1;
    len = n - (size_t)(inner - name);
    return (len == 8 && memcmp(inner, "data.pkl", 8) == 0) ||
           (len == 7 && memcmp(inner, "version", 7) == 0) ||
           (len == 9 && memcmp(inner, "byteorder", 9) == 0) ||
           (len == 13 && memcmp(inner, "constants.pkl", 13) == 0) ||
           (len > 5 && memcmp(inner, "data/", 5) == 0) ||
           (len > 5 && memcmp(inner, "code/", 5) == 0) ||
           (len > 6 && memcmp(inner, ".data/", 6) == 0) ||
           (len > 1 && memcmp(inner, ".format_version", len < 15 ? len : 15) == 0 && len == 15);
}

/* TorchScript pickles classes of the module __torch__ and carries their source in code/. */
static bool has_script(const struct tenon_probe *probe)
{
    return tenon_probe_find(probe, "__torch__", 9) < probe->n ||
           tenon_probe_find(probe, "/constants.pkl", 14) < probe->n;
}

static bool is_torch_zip(const struct tenon_probe *probe)
{
    const char *name = "";
    size_t n = tenon_probe_zip_member(probe, &name);

    return n != 0 && is_torch_member(name, n);
}

static int probe_torch_zip(const struct tenon_probe *probe)
{
    return is_torch_zip(probe) && !has_script(probe) ? TENON_PROBE_MAGIC : TENON_PROBE_NO;
}

static int probe_torchscript(const struct tenon_probe *probe)
{
    return is_torch_zip(probe) && has_script(probe) ? TENON_PROBE_MAGIC : TENON_PROBE_NO;
}

/* All end alike: this release does not read pickles. */
static enum tenon_status fail_torch(struct tenon_error *err, const char *what)
{
    tenon_fail(err, TENON_ERR_UNSUPPORTED_FEATURE, 0, "%s: named here, not read", what);
    tenon_fail_hint(err, "save its tensors as safetensors first");
    return TENON_ERR_UNSUPPORTED_FEATURE;
}

static enum tenon_status explain_torch_zip(const struct tenon_probe *probe, struct tenon_error *err)
{
    (void)probe;
    return fail_torch(err, "a PyTorch checkpoint in a zip archive");
}

static enum tenon_status explain_torchscript(const struct tenon_probe *probe,
                                             struct tenon_error *err)
{
    (void)probe;
    return fail_torch(err, "a TorchScript program in a zip archive");
}

const struct tenon_format tenon_format_torch_zip = {
    .info = {"torch-zip", "PyTorch checkpoint (zip)", ".pt .pth .ckpt .bin", TENON_FORMAT_NAMED},
    .probe = probe_torch_zip,
    .explain = explain_torch_zip,
};

const struct tenon_format tenon_format_torchscript = {
    .info = {"torchscript", "TorchScript program (zip)", ".pt", TENON_FORMAT_NAMED},
    .probe = probe_torchscript,
    .explain = explain_torchscript,
};

/* The offset behind the protocol and frame opcodes of a pickle, or 0 when it is none:
 *   80 PROTOCOL [95 LENGTH:u64] ... */
static size_t find_pickle_body(const struct tenon_probe *probe)
{
    enum { PROTO = 0x80, FRAME = 0x95 };

    if (probe->n < 3 || probe->bytes[0] != PROTO || probe->bytes[1] < 2 || probe->bytes[1] > 5)
        return 0;
    return probe->bytes[2] == FRAME ? 11 : 2;
}

/* The first pickle of a file by the old torch.save is one long integer, 0x1950a86a20f9469cfc6c:
 * opcode 8a and its bytes, or opcode L and decimal digits in protocols 0 and 1. */
static int probe_torch_legacy(const struct tenon_probe *probe)
{
    static const unsigned char binary[] = {0x8a, 0x0a, 0x6c, 0xfc, 0x9c, 0x46, 0xf9,
                                           0x20, 0x6a, 0xa8, 0x50, 0x19, 0x2e};
    size_t body = find_pickle_body(probe);

    if ((body != 0 && tenon_probe_has(probe, body, binary, sizeof(binary))) ||
        TENON_PROBE_HAS(probe, 0, "L119547037146038801333356L\n."))
        return TENON_PROBE_MAGIC;
    return TENON_PROBE_NO;
}

static enum tenon_status explain_torch_legacy(const struct tenon_probe *probe,
                                              struct tenon_error *err)
{
    (void)probe;
    return fail_torch(err, "a PyTorch checkpoint in the old pickle layout");
}

const struct tenon_format tenon_format_torch_legacy = {
    .info = {"torch-legacy", "PyTorch checkpoint (pickles in a row)", ".pt .pth .ckpt .bin .th",
             TENON_FORMAT_NAMED},
    .probe = probe_torch_legacy,
    .explain = explain_torch_legacy,
};

static int probe_torch_tar(const struct tenon_probe *probe)
{
    if (!TENON_PROBE_HAS(probe, 257, "ustar"))
        return TENON_PROBE_NO;
    if (TENON_PROBE_HAS(probe, 0, "sys_info") || TENON_PROBE_HAS(probe, 0, "pickle") ||
        TENON_PROBE_HAS(probe, 0, "storages") || TENON_PROBE_HAS(probe, 0, "tensors"))
        return TENON_PROBE_MAGIC + 1;
    return TENON_PROBE_NO;
}

static enum tenon_status explain_torch_tar(const struct tenon_probe *probe, struct tenon_error *err)
{
    (void)probe;
    return fail_torch(err, "a PyTorch checkpoint in the oldest layout, a tar archive");
}

const struct tenon_format tenon_format_torch_tar = {
    .info = {"torch-tar", "PyTorch checkpoint (tar)", ".tar", TENON_FORMAT_NAMED},
    .probe = probe_torch_tar,
    .explain = explain_torch_tar,
};

/* Opcodes that a pickle can begin with: push something. */
static bool starts_pickle(unsigned char opcode)
{
    return opcode != 0 &&
           strchr("()]}NcGIJKLMSTUVXB\x88\x89\x8a\x8b\x8c\x8d\x8e\x8f\x96", opcode) != NULL;
}

static int probe_pickle(const struct tenon_probe *probe)
{
    size_t body = find_pickle_body(probe);

    if (body != 0 && body < probe->n && starts_pickle(probe->bytes[body]))
        return TENON_PROBE_SHAPE + 10;
    if (TENON_PROBE_HAS(probe, 0, "(dp") || TENON_PROBE_HAS(probe, 0, "(lp") ||
        TENON_PROBE_HAS(probe, 0, "ccollections\nOrderedDict\n"))
        return TENON_PROBE_SHAPE;
    return TENON_PROBE_NO;
}

static enum tenon_status explain_pickle(const struct tenon_probe *probe, struct tenon_error *err)
{
    (void)probe;
    return fail_torch(err, "a Python pickle");
}

const struct tenon_format tenon_format_pickle = {
    .info = {"pickle", "Python pickle", ".pkl .pickle", TENON_FORMAT_NAMED},
    .probe = probe_pickle,
    .explain = explain_pickle,
};
