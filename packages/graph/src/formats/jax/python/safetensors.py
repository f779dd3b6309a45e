"""The safetensors format for named tensors: https://github.com/huggingface/safetensors."""

import json
import struct
from pathlib import Path

import jax.numpy as jnp
import numpy as np

DTYPES = {
    "F64": "float64",
    "F32": "float32",
    "F16": "float16",
    "BF16": "bfloat16",
    "F8_E4M3": "float8_e4m3fn",
    "F8_E5M2": "float8_e5m2",
    "I64": "int64",
    "I32": "int32",
    "U32": "uint32",
    "I8": "int8",
    "U8": "uint8",
    "BOOL": "bool",
}


def load_safetensors(path):
    """The tensors of a safetensors file by name, as NumPy arrays, and its metadata."""
    data = Path(path).read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header, body = json.loads(data[8 : 8 + length]), data[8 + length :]
    texts = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        first, last = entry["data_offsets"]
        dtype = jnp.dtype(DTYPES[entry["dtype"]])
        tensors[name] = np.frombuffer(body[first:last], dtype).reshape(entry["shape"])
    return tensors, texts


def load_constants(path):
    """The constants of a model, from the file in its folder."""
    return load_safetensors(Path(path).with_name("constants.safetensors"))[0]
