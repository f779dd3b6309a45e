"""Records random numbers of JAX, XLA and Triton in `recorded-runs.json`, for the tests of `src/interop`.

Run: python3 record-runs.py && npx biome check --write, with jax, torch and triton installed. Triton runs in its
interpreter, without a GPU.
"""

import json
import os
from pathlib import Path

os.environ["TRITON_INTERPRET"] = "1"

import jax
import numpy as np
import torch
import triton
import triton.language as tl
from jax import lax
from jax.extend import backend
from jaxlib import xla_client

jax.config.update("jax_enable_x64", True)


def integers(array):
    """Integers as text, because JSON numbers have 53 bits."""
    return [str(int(x)) for x in np.asarray(array).ravel()]


def jax_run(seed):
    key = jax.random.key(seed, impl="philox4x32")
    return {
        "seed": str(seed),
        "key": integers(jax.random.key_data(key)),
        "bits": integers(jax.random.bits(key, (7,), "uint32")),
        "split": integers(jax.random.key_data(jax.random.split(key, 3))),
        "foldIn9": integers(jax.random.key_data(jax.random.fold_in(key, 9))),
    }


def xla_run(state, count):
    before = np.array(state, np.uint64)
    algorithm = lax.RandomAlgorithm.RNG_PHILOX
    after, words = lax.rng_bit_generator(before, (count,), np.uint32, algorithm=algorithm)
    return {"state": integers(before), "words": integers(words), "next": integers(after)}


def xla_run_of_three(state, count):
    """JAX has states of two elements only, so this program is in StableHLO."""
    types = f"tensor<3xui64>, tensor<{count}xui32>"
    program = f"""module {{
      func.func public @main(%state: tensor<3xui64>) -> ({types}) {{
        %next, %words = stablehlo.rng_bit_generator %state, algorithm = PHILOX : (tensor<3xui64>) -> ({types})
        return %next, %words : {types}
      }}
    }}"""
    client = backend.get_backend("cpu")
    devices = xla_client.DeviceList(tuple(client.local_devices()[:1]))
    compiled = client.compile_and_load(program.encode(), devices, xla_client.CompileOptions())
    before = np.array(state, np.uint64)
    after, words = compiled.execute([jax.device_put(before)])
    return {"state": integers(before), "words": integers(words), "next": integers(after)}


@triton.jit
def draw(words, uniforms, seed, offset, count: tl.constexpr, rounds: tl.constexpr):
    i = tl.arange(0, count)
    block = tl.randint4x(seed, offset + i, rounds)
    for n in tl.static_range(4):
        tl.store(words + 4 * i + n, block[n])
    tl.store(uniforms + i, tl.rand(seed, offset + i, rounds))


def triton_run(seed, offset, rounds):
    words = torch.zeros(16, dtype=torch.int32)
    uniforms = torch.zeros(4)
    draw[(1,)](words, uniforms, seed, offset, 4, rounds)
    return {
        "seed": str(seed),
        "offset": str(offset),
        "rounds": rounds,
        "words": integers(words.numpy().view(np.uint32)),
        "uniforms": uniforms.tolist(),
    }


runs = {
    "versions": {"jax": jax.__version__, "triton": triton.__version__},
    "jax": [jax_run(seed) for seed in (0, 42, 2**32 - 1, 123456789012345)],
    "xla": [
        xla_run(*given)
        for given in (([1, 2], 1), ([5, 2**64 - 1], 7), ([0xDEADBEEFCAFEBABE, 7], 10), ([2**64 - 1, 2**64 - 2], 9))
    ]
    + [xla_run_of_three(*given) for given in (([1, 2, 3], 4), ([2**63 + 5, 2**64 - 2, 2**64 - 1], 9))],
    "triton": [triton_run(*given) for given in ((0, 0, 10), (42, 2**31 - 2, 7), (2**40 + 5, 2**33 - 3, 10))],
}
Path(__file__).with_name("recorded-runs.json").write_text(json.dumps(runs) + "\n")
