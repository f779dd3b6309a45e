"""The safetensors format for named tensors: https://github.com/huggingface/safetensors."""

import ctypes
import json
import struct
from pathlib import Path

import torch

DTYPES = {
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "F8_E4M3": torch.float8_e4m3fn,
    "F8_E5M2": torch.float8_e5m2,
    "I64": torch.int64,
    "I32": torch.int32,
    "U32": torch.uint32,
    "I8": torch.int8,
    "U8": torch.uint8,
    "BOOL": torch.bool,
}


def load_safetensors(path):
    """The tensors of a safetensors file by name, and its metadata."""
    data = Path(path).read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header, body = json.loads(data[8 : 8 + length]), bytearray(data[8 + length :])
    texts = header.pop("__metadata__", {})
    tensors = {}
    for name, entry in header.items():
        first, last = entry["data_offsets"]
        raw = torch.empty(last - first, dtype=torch.uint8)
        if last > first:
            raw.copy_(torch.frombuffer(body, dtype=torch.uint8, count=last - first, offset=first))
        tensors[name] = raw.view(DTYPES[entry["dtype"]]).view(entry["shape"])
    return tensors, texts


def save_safetensors(path, tensors, texts=None):
    """Writes tensors by name, and metadata, to a safetensors file."""
    names = {dtype: name for name, dtype in DTYPES.items()}
    header, parts, end = {"__metadata__": texts} if texts else {}, [], 0
    for name, x in sorted(tensors.items(), key=lambda item: (-item[1].element_size(), item[0])):
        x = x.detach().cpu().contiguous()
        raw = ctypes.string_at(x.data_ptr(), x.nbytes) if x.nbytes else b""
        place = [end, end + x.nbytes]
        header[name] = {"dtype": names[x.dtype], "shape": list(x.shape), "data_offsets": place}
        parts.append(raw)
        end += x.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    Path(path).write_bytes(struct.pack("<Q", len(text)) + text + b"".join(parts))
