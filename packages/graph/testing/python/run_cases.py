"""Runs exported models and compares their results: run_cases.py LIBRARY FOLDER prints a line of JSON for each
case; LIBRARY is torch or jax.

FOLDER contains the package `runtime` with the files of every export, and for each case N a folder N. The
folder has model.py, case.json with the inputs in the order of INPUTS, and given.safetensors. That file
contains the tensors i0…, the expected results o0… in the order of OUTPUTS, and for gradients the seed of
result 0, `seed`, and the expected gradients g0… of the inputs that case.json lists as `by`.
"""

import importlib
import json
import sys
import types
from pathlib import Path

import numpy as np

library, folder = importlib.import_module(f"{sys.argv[1]}_case"), Path(sys.argv[2])
sys.path.insert(0, str(folder))
# train.py imports the model that it trains, which no case provides.
left_out = ("__init__", "__pycache__", "train")
names = [path.stem for path in (folder / "runtime").iterdir() if path.stem not in left_out]
runtime = {name: importlib.import_module(f"runtime.{name}") for name in names}

# The errors that a badly written model raises; other errors end the run.
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
    """Imports model.py of a case in a package that shares the files of every export."""
    package = f"case_{path.name}"
    sys.modules[package] = types.ModuleType(package)
    sys.modules[package].__path__ = [str(path)]
    for name, module in runtime.items():
        sys.modules[f"{package}.{name}"] = module
    return importlib.import_module(f"{package}.model")


def error(got, want):
    """The largest difference of two float64 arrays, relative to the largest number of the tensor or to 1.
    Elements where NaN is expected are not compared.
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
