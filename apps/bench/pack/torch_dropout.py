"""Dropout masks that PyTorch draws on a CUDA GPU, as JSON files that `./start conformance philox --vectors DIR` compares bit for bit.

- memory-efficient attention, as `_fill_mem_eff_dropout_mask_` fills a mask, and as attention itself drops: with q = 0 and v = the identity
  matrix, element (i, j) of o is 0 if key j was dropped for query i;
- FlashAttention-2, by the debug mask that attention returns: with q = 0, every element of the mask is 1, or -1 if it was dropped.
"""

import argparse
import json
import math
import os
import sys

import numpy as np
import torch


def record(mask, p, seed, offset, **more):
    """A mask as a vector. Bit L of the mask is bit L & 7 of byte L >> 3; 1 is keep."""
    B, H, M, N = mask.shape
    bits = mask.to("cpu", torch.uint8).numpy().reshape(-1)
    words = {"seed": f"{seed % 2**64:016x}", "offset": f"{offset % 2**64:016x}"}
    packed = np.packbits(bits, bitorder="little").tobytes().hex()
    return {"B": B, "H": H, "M": M, "N": N, "p": p, **words, "keep_count": int(bits.sum()), **more, "mask_hex": packed}


def drawn(shape, p, seed, offset):
    uniform = torch.empty(shape, device="cuda")
    torch.ops.aten._fill_mem_eff_dropout_mask_(uniform, p, seed, offset)
    return uniform > torch.tensor(p, dtype=torch.float32)


def filled(shape, p, seed, offset):
    return record(drawn(shape, p, seed, offset), p, seed, offset, source="_fill_mem_eff_dropout_mask_")


def zero_query(B, H, M, N, D, dtype):
    q = torch.zeros(B, H, M, D, device="cuda", dtype=dtype)
    return q, torch.randn(B, H, N, D, device="cuda", dtype=dtype)


def efficient(shape, p, dtype, causal=False):
    B, H, M, N = shape
    q, k = zero_query(B, H, M, N, N, dtype)
    v = torch.eye(N, device="cuda", dtype=dtype).expand(B, H, N, N).contiguous()
    attention = torch.ops.aten._scaled_dot_product_efficient_attention
    o, _, seed, offset = attention(q, k, v, None, True, p, causal)[:4]
    mask = o != 0
    words = int(seed), int(offset)
    if causal:
        # Attention does not show which hidden elements were dropped, so only the visible ones are compared.
        whole = drawn(shape, p, *words)
        visible = torch.ones(M, N, device="cuda", dtype=torch.bool).tril()
        assert torch.equal(mask & visible, whole & visible), "causal attention drops other elements"
        mask = whole
    return record(mask, p, *words, source=f"efficient attention, {dtype}{', causal' if causal else ''}")


def flash(shape, p, dtype, D=64):
    B, H, M, N = shape
    q, k = zero_query(B, H, M, N, D, dtype)
    result = torch.ops.aten._scaled_dot_product_flash_attention(q, k, torch.randn_like(k), p, False, True)
    state, unused, debug = result[6], result[7], result[8]
    # Older versions return seed and offset as two numbers.
    seed, offset = (int(x) for x in (state.cpu().tolist() if state.numel() == 2 else (state, unused)))
    mask = debug[:, :, :M, :N] > 0
    kept = math.floor(float(np.float32(1 - np.float32(p))) * 255)
    return record(mask, p, seed, offset, p_keep_u8=kept, source=f"flash attention, {dtype}, D = {D}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", help="where the files go")
    folder = parser.parse_args().folder
    if not torch.cuda.is_available():
        sys.exit("PyTorch has no CUDA GPU here.")
    os.makedirs(folder, exist_ok=True)
    torch.manual_seed(20_24)
    half, single = torch.float16, torch.float32
    tries = {
        "cuda_mem_eff": [
            *[lambda s=s, p=p, w=w: filled(s, p, *w)
              for s, p, w in [((2, 3, 17, 33), 0.1, (42, 0)), ((1, 4, 128, 256), 0.5, (2**63 - 1, 2**40 + 4)),
                              ((2, 2, 65, 129), 0.3, (123456789, 8)), ((1, 1, 512, 1000), 0.85, (7, 2**34))]],
            *[lambda s=s, p=p, d=d, c=c: efficient(s, p, d, c)
              for s, p, d, c in [((2, 3, 70, 128), 0.1, single, False), ((1, 2, 256, 256), 0.5, half, False),
                                 ((2, 2, 129, 64), 0.2, torch.bfloat16, False), ((1, 2, 128, 128), 0.3, half, True)]],
        ],
        "cuda_flash": [
            lambda s=s, p=p, d=d, D=D: flash(s, p, d, D)
            for s, p, d, D in [((2, 3, 100, 200), 0.1, half, 64), ((1, 2, 384, 257), 0.5, half, 128),
                               ((2, 2, 64, 128), 0.3, torch.bfloat16, 32), ((1, 8, 513, 300), 0.85, half, 64)]
        ],
    }
    failed = 0
    for name, cases in tries.items():
        records = []
        for case in cases:
            try:
                records.append(case())
            except Exception as reason:
                failed += 1
                print(f"{name}: {type(reason).__name__}: {reason}", file=sys.stderr)
        for one in records:
            print(f"{name} {one['B']}x{one['H']}x{one['M']}x{one['N']} p={one['p']} seed={one['seed']} offset={one['offset']} {one['source']}")
        with open(os.path.join(folder, f"{name}.json"), "w") as file:
            json.dump({"cases": records}, file)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
