"""Runs models that were exported to JAX and compares what they give: run_jax_cases.py FOLDER prints a line of
JSON for each case. The files are as run_torch_cases.py says.
"""

import importlib
import importlib.util
import json
import sys
import types
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np

folder = Path(sys.argv[1])
sys.path.insert(0, str(folder))
RUNTIME = ["philox", "attention", "operations", "parallel"]
runtime = {name: importlib.import_module(f"runtime.{name}") for name in RUNTIME}
parallel = runtime["parallel"]
DTYPES = {"f32": np.float32, "f16": np.float16, "bf16": jnp.bfloat16, "bool": np.bool_}

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


def error(got, want):
    """The largest difference, relative to the largest number of the tensor but at least 1; of what is
    undefined nothing is compared.
    """
    if tuple(got.shape) != tuple(want.shape):
        return f"has shape {tuple(got.shape)}, not {tuple(want.shape)}"
    got, want = np.asarray(got).astype(np.float64).ravel(), want.astype(np.float64).ravel()
    finite = want[np.isfinite(want)]
    scale = max(1.0, float(np.abs(finite).max())) if finite.size else 1.0
    differs = ~(np.isnan(want) | (got == want))
    return float(np.abs(got[differs] - want[differs]).max(initial=0.0)) / scale


def run(path):
    case = json.loads((path / "case.json").read_text())
    given, _ = parallel.load_safetensors(path / "given.safetensors")
    model = load(path)
    scalars, tensors = {}, {}
    for n, (name, (dtype, _)) in enumerate(model.INPUTS.items()):
        value = case["inputs"][n]
        if value is None:
            tensors[name] = given[f"i{n}"]
        elif dtype == "i64":
            tensors[name] = parallel.argument(int(value))
        else:
            scalars[name] = DTYPES.get(dtype, np.int32)(float(value))
    names = list(model.INPUTS)
    by = [names[n] for n in case.get("by", [])]
    place = parallel.Place(model.EXTENTS)

    def forward(own, rest):
        return list(model.forward(place, {}, **own, **rest, **scalars).values())

    own = {name: tensors[name] for name in by if name in tensors}
    rest = {name: x for name, x in tensors.items() if name not in own}

    def both(own, rest):
        results, differentiate = jax.vjp(lambda own: forward(own, rest), own)
        seeds = [given["seed"] if n == 0 else zero(x) for n, x in enumerate(results)]
        return results, differentiate(seeds)[0]

    results, found = jax.jit(both)(own, rest) if by else (jax.jit(forward)(own, rest), {})
    report = {"case": path.name, "outputs": [error(x, given[f"o{n}"]) for n, x in enumerate(results)]}
    if by:
        report["gradients"] = [error(found[x], given[f"g{n}"]) for n, x in enumerate(by)]
    return report


def zero(x):
    """No gradient by a result."""
    if jnp.issubdtype(x.dtype, jnp.floating):
        return jnp.zeros(x.shape, x.dtype)
    return np.zeros(x.shape, jax.dtypes.float0)


for path in sorted((p for p in folder.iterdir() if p.name.isdigit()), key=lambda p: int(p.name)):
    try:
        print(json.dumps(run(path)), flush=True)
    except PROBLEMS as problem:
        message = f"{type(problem).__name__}: {problem}".split("\n")[0]
        print(json.dumps({"case": path.name, "problem": message}), flush=True)
