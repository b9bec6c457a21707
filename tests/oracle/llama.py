"""llama.cpp's model loader, through the C functions of its compiled library. The library lies beside
that of ggml, which TENON_ORACLE_GGML names."""
import ctypes as c
import glob
import os


class ModelParams(c.Structure):
    """What release 0.5.0 passes by value: only what is set here has a meaning for us."""
    _fields_ = [("devices", c.c_void_p), ("buffer_overrides", c.c_void_p),
                ("gpu_layers", c.c_int32), ("split_mode", c.c_int32), ("load_mode", c.c_int32),
                ("lazy_mode", c.c_int32), ("main_gpu", c.c_int32), ("tensor_split", c.c_void_p),
                ("progress", c.c_void_p), ("progress_user", c.c_void_p),
                ("pair_overrides", c.c_void_p), ("vocab_only", c.c_bool),
                ("check_tensors", c.c_bool), ("extra_buffers", c.c_bool), ("no_host", c.c_bool),
                ("no_alloc", c.c_bool), ("load_mtp", c.c_bool)]


LOG = c.CFUNCTYPE(None, c.c_int, c.c_char_p, c.c_void_p)


class Llama:
    """`load` says whether a file, or the set of which it is the first, can be used as a model."""

    def __init__(self):
        folder = os.path.dirname(os.environ["TENON_ORACLE_GGML"])
        self.said = []
        c.CDLL(os.path.join(folder, "libggml-base.so"), mode=c.RTLD_GLOBAL)
        ggml = c.CDLL(glob.glob(os.path.join(folder, "libggml.v*.so"))[0], mode=c.RTLD_GLOBAL)
        self.lib = c.CDLL(glob.glob(os.path.join(folder, "libllama.v*.so"))[0])
        self.log = LOG(self.hear)
        self.lib.llama_log_set(self.log, None)
        ggml.ggml_backend_load_all_from_path(folder.encode())
        self.lib.llama_model_default_params.restype = ModelParams
        self.lib.llama_model_load_from_file.restype = c.c_void_p
        self.lib.llama_model_load_from_file.argtypes = [c.c_char_p, ModelParams]
        self.lib.llama_model_n_params.restype = c.c_uint64
        self.lib.llama_model_n_params.argtypes = [c.c_void_p]
        self.lib.llama_model_free.argtypes = [c.c_void_p]
        self.lib.llama_backend_init()

    def hear(self, _level, text, _user):
        self.said.append(text.decode(errors="replace"))

    def load(self, path):
        """The number of parameters; None when the loader refuses, which `why` then explains."""
        self.said.clear()
        params = self.lib.llama_model_default_params()
        params.gpu_layers = 0
        params.check_tensors = True
        model = self.lib.llama_model_load_from_file(os.fsencode(path), params)
        if not model:
            return None
        count = self.lib.llama_model_n_params(model)
        self.lib.llama_model_free(model)
        return count

    def why(self):
        lines = [line.strip() for line in self.said if "error" in line.lower()]
        return lines[0] if lines else "".join(self.said[-3:])
