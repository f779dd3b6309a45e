"""PyTorch's attention on the shapes of the bench, as the same JSON lines: every backend of scaled_dot_product_attention, and FlexAttention.

FLOPs count 2 matrix products forward and 5 backward, of visible pairs only. Times are medians, by CUDA events on a GPU, with inputs
taken in turn so that none is in a cache. What a backend cannot run is a line without a time that says why.
"""

import argparse
import json
import statistics
import sys
import time

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

# The names of the backends in PyTorch, which has cuDNN's since 2.5.
BACKENDS = {
    "flash": "FLASH_ATTENTION",
    "efficient": "EFFICIENT_ATTENTION",
    "cudnn": "CUDNN_ATTENTION",
    "math": "MATH",
}
DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
BEYOND_CACHES = 128 * 2**20


def flops(shape, causal):
    """Floating-point operations (forward, backward)."""
    b, h, s, d = shape
    pairs = s * (s + 1) // 2 if causal else s * s
    forward = 2 * b * h * pairs * 2 * d
    return forward, 5 * forward // 2


def flex():
    """FlexAttention, compiled, as a function like scaled_dot_product_attention."""
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention

    compiled = torch.compile(flex_attention, dynamic=False)
    masks = {}

    def run(q, k, v, is_causal):
        s = q.shape[2]
        if is_causal and s not in masks:
            masks[s] = create_block_mask(lambda b, h, i, j: i >= j, None, None, s, s, device=q.device)
        return compiled(q, k, v, block_mask=masks[s] if is_causal else None)

    return run


def implementations(names):
    for name in names:
        if name == "flex":
            yield name, flex()
            continue
        def run(q, k, v, is_causal, backend=BACKENDS[name]):
            with sdpa_kernel(getattr(SDPBackend, backend)):
                return F.scaled_dot_product_attention(q, k, v, is_causal=is_causal)

        yield name, run


class Clock:
    """Milliseconds that work takes on a device."""

    def __init__(self, device):
        self.cuda = device.type == "cuda"
        self.kind = "CUDA events" if self.cuda else "wall clock"

    def time(self, work):
        if not self.cuda:
            start = time.perf_counter()
            work()
            return (time.perf_counter() - start) * 1e3
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        work()
        end.record()
        end.synchronize()
        return begin.elapsed_time(end)


def check(run, q, k, v, causal):
    """The largest error against math in f32 (f64 for f32 inputs), as a fraction of the largest value or of 1; on one head."""
    wide = torch.float64 if q.dtype == torch.float32 else torch.float32
    one = [x[:1, :1] for x in (q, k, v)]
    with sdpa_kernel(SDPBackend.MATH):
        exact = F.scaled_dot_product_attention(*(x.to(wide) for x in one), is_causal=causal)
    got = run(q, k, v, causal)[:1, :1].to(wide)
    return float((got - exact).abs().max() / max(1.0, float(exact.abs().max())))


def measure(run, clock, shape, dtype, causal, device, repeats):
    """Error, and milliseconds of forward and of backward."""
    size = shape[0] * shape[1] * shape[2] * shape[3] * torch.finfo(dtype).bits // 8
    copies = max(1, min(16, -(-BEYOND_CACHES // (4 * size))))
    torch.manual_seed(1)
    inputs = [[torch.randn(shape, device=device, dtype=dtype) for _ in range(4)] for _ in range(copies)]
    for q, k, v, _ in inputs:
        for x in (q, k, v):
            x.requires_grad_(True)
    q, k, v, _ = inputs[0]
    with torch.no_grad():
        error = check(run, q, k, v, causal)
    forward, backward = [], []
    for n in range(repeats + 2):
        q, k, v, d_o = inputs[n % copies]
        with torch.no_grad():
            ms = clock.time(lambda: run(q, k, v, causal))
        o = run(q, k, v, causal)
        back = clock.time(lambda: torch.autograd.grad(o, (q, k, v), d_o))
        # The first two calls warm up.
        if n >= 2:
            forward.append(ms)
            backward.append(back)
    return error, statistics.median(forward), statistics.median(backward)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--shapes", default="1x32x1024x128,1x32x4096x128", help="BxHxSxD,…")
    parser.add_argument("--dtypes", default="f32,f16,bf16")
    parser.add_argument("--masks", default="full,causal")
    parser.add_argument("--backends", default="flash,efficient,cudnn,math,flex")
    parser.add_argument("--repeats", type=int, default=10)
    parser.add_argument("--device", default="cuda" if torch.cuda.is_available() else "cpu")
    args = parser.parse_args()
    device = torch.device(args.device)
    adapter = torch.cuda.get_device_name(device) if device.type == "cuda" else "cpu"
    clock = Clock(device)
    torch.backends.cuda.matmul.allow_tf32 = False
    for text in args.shapes.split(","):
        shape = tuple(int(n) for n in text.split("x"))
        for dtype in args.dtypes.split(","):
            for mask in args.masks.split(","):
                causal = mask == "causal"
                work = dict(zip(("forward", "backward"), flops(shape, causal)))
                for name, run in implementations(args.backends.split(",")):
                    line = {
                        "suite": "attention",
                        "engine": f"torch {torch.__version__} {name}",
                        "B×H×S×D": "×".join(map(str, shape)),
                        "dtype": dtype,
                        "mask": mask,
                        "timer": clock.kind,
                        "adapter": adapter,
                    }
                    try:
                        error, *times = measure(run, clock, shape, DTYPES[dtype], causal, device, args.repeats)
                    except Exception as reason:
                        text_of = str(reason).strip().splitlines() or [type(reason).__name__]
                        print(json.dumps({**line, "pass": "forward", "note": text_of[0][:150]}, ensure_ascii=False), flush=True)
                        continue
                    for (direction, count), ms in zip(work.items(), times):
                        row = {**line, "pass": direction, "ms": ms, "TFLOP/s": count / ms / 1e9}
                        if direction == "forward":
                            row["error"] = error
                        print(json.dumps(row, ensure_ascii=False), flush=True)


if __name__ == "__main__":
    sys.exit(main())
