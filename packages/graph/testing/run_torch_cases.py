"""Runs exported models and compares what they give: run_torch_cases.py FOLDER prints a line of JSON for each
case.

FOLDER has the package `runtime`, the files of every export, and for each case N a folder N with model.py, and
case.json with inputs in the order of INPUTS, and given.safetensors with tensors i0…, the results o0… that are
expected in the order of OUTPUTS, and for gradients the seed of result 0, `seed`, and g0… by the inputs that
case.json lists as `by`.
"""

import importlib
import importlib.util
import json
import math
import sys
import types
from pathlib import Path

import torch

torch.set_num_threads(1)
folder = Path(sys.argv[1])
sys.path.insert(0, str(folder))
RUNTIME = ["layout", "philox", "kernels", "tiles", "attention", "operations", "parallel", "module"]
runtime = {name: importlib.import_module(f"runtime.{name}") for name in RUNTIME}
parallel = runtime["parallel"]
DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16, "bool": torch.bool}

# What a model that was written wrongly raises; other problems end the run.
PROBLEMS = (
    ArithmeticError,
    AttributeError,
    ImportError,
    LookupError,
    NameError,
    RuntimeError,
    TypeError,
    ValueError,
)


def load(path):
    package = f"case_{path.name}"
    sys.modules[package] = types.ModuleType(package)
    for name, module in runtime.items():
        sys.modules[f"{package}.{name}"] = module
    spec = importlib.util.spec_from_file_location(f"{package}.model", path / "model.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def error(got, want, steps=False):
    """The largest difference, relative to the largest number of the tensor but at least 1; of what is
    undefined nothing is compared.
    """
    if tuple(got.shape) != tuple(want.shape):
        return f"has shape {tuple(got.shape)}, not {tuple(want.shape)}"
    got, want = got.detach().double().reshape(-1), want.double().reshape(-1)
    finite = want[want.isfinite()]
    scale = max(1.0, float(finite.abs().max())) if finite.numel() else 1.0
    worst = 0.0
    for x, y in zip(got.tolist(), want.tolist()):
        if math.isnan(y) or x == y:
            continue
        worst = max(worst, abs(x - y) / scale if math.isfinite(x) and math.isfinite(y) else math.inf)
    return worst


def run(path):
    case = json.loads((path / "case.json").read_text())
    given, _ = parallel.load_safetensors(path / "given.safetensors")
    model = load(path)
    inputs = {}
    for n, (name, (dtype, axes)) in enumerate(model.INPUTS.items()):
        value = case["inputs"][n]
        if value is None:
            x = given[f"i{n}"]
            inputs[name] = x.long() if x.dtype == torch.uint32 else x
        elif dtype == "i64":
            inputs[name] = int(value)
        else:
            inputs[name] = torch.tensor(float(value)).to(DTYPES.get(dtype, torch.int32))
    names = list(inputs)
    by = [names[n] for n in case.get("by", [])]
    for name in by:
        inputs[name] = inputs[name].clone().requires_grad_()
    module = model.Model()
    results = list(module(parallel.Place(model.EXTENTS), **inputs).values())
    report = {"case": path.name, "outputs": [error(x, given[f"o{n}"]) for n, x in enumerate(results)]}
    report["dtypes"] = [str(x.dtype) for x in results]
    if by:
        found = torch.autograd.grad(results[0], [inputs[x] for x in by], given["seed"], allow_unused=True)
        found = [torch.zeros_like(inputs[x]) if g is None else g for x, g in zip(by, found)]
        report["gradients"] = [error(x, given[f"g{n}"]) for n, x in enumerate(found)]
    return report


for path in sorted((p for p in folder.iterdir() if p.name.isdigit()), key=lambda p: int(p.name)):
    try:
        print(json.dumps(run(path)), flush=True)
    except PROBLEMS as problem:
        print(json.dumps({"case": path.name, "problem": f"{type(problem).__name__}: {problem}"}), flush=True)
