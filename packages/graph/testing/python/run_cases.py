"""Runs exported models and compares their results: run_cases.py LIBRARY FOLDER prints a line of JSON for each
case; LIBRARY is torch or jax.

FOLDER has the package `runtime`, the files of every export, and for each case N a folder N with model.py, and
case.json with inputs in the order of INPUTS, and given.safetensors with tensors i0…, the results o0… that are
expected in the order of OUTPUTS, and for gradients the seed of result 0, `seed`, and g0… by the inputs that
case.json lists as `by`.
"""

import importlib
import json
import sys
import types
from pathlib import Path

import numpy as np

library, folder = importlib.import_module(f"{sys.argv[1]}_case"), Path(sys.argv[2])
sys.path.insert(0, str(folder))
# train.py reads the model that it trains; no case has it.
left_out = ("__init__", "__pycache__", "train")
names = [path.stem for path in (folder / "runtime").iterdir() if path.stem not in left_out]
runtime = {name: importlib.import_module(f"runtime.{name}") for name in names}

# The errors of a model that was written wrongly; other errors end the run.
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
    """The module model.py of a case, in a package that shares the files of every export."""
    package = f"case_{path.name}"
    sys.modules[package] = types.ModuleType(package)
    sys.modules[package].__path__ = [str(path)]
    for name, module in runtime.items():
        sys.modules[f"{package}.{name}"] = module
    return importlib.import_module(f"{package}.model")


def error(got, want):
    """The largest difference of two float64 arrays, relative to the largest number of the tensor but at least
    1. Where NaN is expected, nothing is compared.
    """
    if got.shape != want.shape:
        return f"has shape {got.shape}, not {want.shape}"
    scale = np.abs(want[np.isfinite(want)]).max(initial=1.0)
    differs = ~(np.isnan(want) | (got == want))
    worst = np.abs(got[differs] - want[differs]).max(initial=0.0) / scale
    return float(np.nan_to_num(worst, nan=np.inf))


def run(path):
    case = json.loads((path / "case.json").read_text())
    given, _ = runtime["safetensors"].load_safetensors(path / "given.safetensors")
    model = load(path)
    inputs = {
        name: given[f"i{n}"] if text is None else (dtype, text)
        for n, ((name, (dtype, _)), text) in enumerate(zip(model.INPUTS.items(), case["inputs"], strict=True))
    }
    by = [list(inputs)[n] for n in case.get("by", [])]
    results, gradients = library.run(model, runtime["parallel"], inputs, by, given.get("seed"))

    def errors(found, prefix):
        wanted = [library.to_numpy(given[f"{prefix}{n}"]) for n in range(len(found))]
        return [error(library.to_numpy(x), want) for x, want in zip(found, wanted)]

    return {"case": path.name, "outputs": errors(results, "o"), "gradients": errors(gradients, "g")}


for path in sorted((p for p in folder.iterdir() if p.name.isdigit()), key=lambda p: int(p.name)):
    try:
        report = run(path)
    except PROBLEMS as problem:
        message = f"{type(problem).__name__}: {problem}".split("\n")[0]
        report = {"case": path.name, "problem": message}
    print(json.dumps(report), flush=True)
