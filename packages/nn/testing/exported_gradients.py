"""Loss, gradients and logits of exported models: exported_gradients.py MESH NAME… in a folder with the
packages NAME, and NAME_logits where logits are wanted. Rank 0 writes NAME.found.safetensors.
"""

import sys
from importlib import import_module
from importlib.util import find_spec

import torch

torch.set_num_threads(1)
sys.path.insert(0, ".")
mesh, *names = sys.argv[1:]


def results(package, mesh):
    """The module of a package with its weights, its results for the first batch, and its place."""
    model, parallel, train, files = (
        import_module(f"{package}.{name}") for name in ("model", "parallel", "train", "safetensors")
    )
    parallel.start()
    world = torch.distributed.get_world_size() if torch.distributed.is_initialized() else 1
    place = parallel.Place(model.EXTENTS, parallel.mesh_shape(mesh, world))
    module = model.Model()
    module.load(files.load_safetensors(f"{package}/weights.safetensors")[0])
    batch = train.reader(f"{package}/batches.safetensors")(0)
    return module, module(place, **train.parts_of(place, batch)), place


for name in names:
    module, found, place = results(name, mesh)
    found["loss"].backward()
    import_module(f"{name}.parallel").sum_gradients(module, place)
    loss = place.total(found["loss"]).reshape(1)
    tensors = {"loss": loss, **{key: p.grad for key, p in module.named_parameters()}}
    if place.ranks == 1 and find_spec(f"{name}_logits"):
        (logits,) = results(f"{name}_logits", mesh)[1].values()
        tensors["logits"] = logits
    if place.ranks == 1 or torch.distributed.get_rank() == 0:
        import_module(f"{name}.safetensors").save_safetensors(f"{name}.found.safetensors", tensors)
if torch.distributed.is_initialized():
    torch.distributed.destroy_process_group()
