"""Trains the model of the bench with PyTorch on one thread: weights, tokens and settings come in a safetensors
file. Each line of standard input is a number of steps; the answer is a line of JSON with the loss of the last
step and the milliseconds that the steps took, by the clock and of processor time."""

import json
import struct
import sys
import time

import torch
import torch.nn.functional as F

torch.set_num_threads(1)

with open(sys.argv[1], "rb") as file:
    (length,) = struct.unpack("<Q", file.read(8))
    header = json.loads(file.read(length))
    data = bytearray(file.read())
settings = json.loads(header.pop("__metadata__")["settings"])
tensors = {}
for name, entry in header.items():
    begin, end = entry["data_offsets"]
    dtype = {"F32": torch.float32, "I32": torch.int32}[entry["dtype"]]
    tensors[name] = torch.frombuffer(data, dtype=dtype, offset=begin, count=(end - begin) // 4).reshape(entry["shape"])
tokens = tensors.pop("tokens").long()
w = {name: tensor.clone().requires_grad_() for name, tensor in tensors.items()}
B, S = tokens.shape
heads, layers = settings["n_head"], settings["n_layer"]


def norm(x, name):
    return F.layer_norm(x, x.shape[-1:], w[name + ".weight"], w[name + ".bias"], settings["layer_norm_epsilon"])


def linear(x, name):
    return torch.addmm(w[name + ".bias"], x.reshape(-1, x.shape[-1]), w[name + ".weight"]).reshape(B, S, -1)


def loss_of():
    x = w["transformer.wte.weight"][tokens] + w["transformer.wpe.weight"][:S]
    for n in range(layers):
        block = f"transformer.h.{n}."
        qkv = linear(norm(x, block + "ln_1"), block + "attn.c_attn").chunk(3, -1)
        q, k, v = (t.reshape(B, S, heads, -1).transpose(1, 2) for t in qkv)
        o = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + linear(o.transpose(1, 2).reshape(B, S, -1), block + "attn.c_proj")
        hidden = F.gelu(linear(norm(x, block + "ln_2"), block + "mlp.c_fc"), approximate="tanh")
        x = x + linear(hidden, block + "mlp.c_proj")
    logits = norm(x, "transformer.ln_f") @ w["transformer.wte.weight"].T
    return F.cross_entropy(logits[:, :-1].reshape(-1, logits.shape[-1]), tokens[:, 1:].reshape(-1))


optimizer = torch.optim.AdamW(list(w.values()), lr=settings["learningRate"], weight_decay=0.01)
print(json.dumps({"name": "pytorch", "version": torch.__version__}), flush=True)
for line in sys.stdin:
    wall, cpu, loss = time.perf_counter(), time.process_time(), None
    for _ in range(int(line)):
        optimizer.zero_grad()
        loss = loss_of()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(list(w.values()), 1.0)
        optimizer.step()
        loss = loss.item()
    answer = {"loss": loss, "wall": 1e3 * (time.perf_counter() - wall), "cpu": 1e3 * (time.process_time() - cpu)}
    print(json.dumps(answer), flush=True)
