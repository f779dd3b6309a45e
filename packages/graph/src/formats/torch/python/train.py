"""Trains the exported model, in one process or on ranks that torchrun starts.

Batches come from `batch(step)`, which returns whole tensors by the names of the model's inputs, and numbers
for scalars. By default they are read from batches.safetensors, with one step per index of the first
dimension. Replace `reader` to read other data.
"""

import argparse
import sys
from pathlib import Path

import torch

from . import checkpoint, parallel
from .model import EXTENTS, INPUTS, Model
from .safetensors import load_safetensors, save_safetensors

HERE = Path(__file__).parent


def reader(path):
    """Returns a function from a step to the step's batch in a file."""
    tensors, texts = load_safetensors(path)
    first = int(texts.get("step", 0))

    def batch(step):
        found = {}
        for name, (dtype, _) in INPUTS.items():
            rows = tensors[name]
            rows = rows.long() if rows.dtype == torch.uint32 else rows
            row = rows[(step - first) % len(rows)]
            if dtype == "i64":
                # 64-bit numbers are pairs of words, low word first.
                low, high = row.tolist()
                row = low + (high << 32)
            found[name] = row
        return found

    return batch


def learning_rate(step, options):
    """The learning rate: rises at first and, if there is an end, falls to 0 over the last fifth."""
    rise = (step + 1) / options.warmup if options.warmup else 1.0
    fall = (options.decay - step) / (0.2 * options.decay) if options.decay else 1.0
    return options.lr * max(0.0, min(1.0, rise, fall))


def parts_of(place, inputs):
    """This rank's part of a batch."""
    parts = {}
    for name, (_, axes) in INPUTS.items():
        x = inputs[name]
        parts[name] = place.part(x.to(place.device), axes) if isinstance(x, torch.Tensor) else x
    return parts


def step_once(module, model, optimizer, place, inputs, options, factor=1):
    """One step of AdamW on this rank's part of a batch; returns the loss over all ranks."""
    optimizer.zero_grad(set_to_none=True)
    loss = module(place, **parts_of(place, inputs))["loss"]
    (loss * factor).backward()
    if options.parallel == "sum":
        parallel.sum_gradients(model, place)
    if options.clip:
        parallel.clip_gradients(model, options.clip)
    optimizer.step()
    return float(place.total(loss))


def make_optimizer(model, options):
    betas = tuple(float(x) for x in options.betas.split(","))
    rest = {"betas": betas, "eps": options.eps, "weight_decay": options.weight_decay}
    return torch.optim.AdamW(model.parameters(), lr=options.lr, **rest)


def parser():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--steps", type=int, default=100, help="train up to this step")
    mesh = "ranks along the batch x ranks along the sequence: 2x4, x4; default: all along the sequence"
    p.add_argument("--mesh", default="", help=mesh)
    orders = ["zigzag", "contiguous"]
    p.add_argument("--order", default="zigzag", choices=orders, help="how a sequence is sharded")
    ways = ["sum", "ddp", "fsdp"]
    p.add_argument("--parallel", default="sum", choices=ways, help="how gradients are summed over ranks")
    p.add_argument("--weights", default=str(HERE / "weights.safetensors"), help="weights to start from")
    p.add_argument("--batches", default=str(HERE / "batches.safetensors"), help="training data")
    p.add_argument("--dir", default="", help="folder of checkpoints; continues from the newest")
    p.add_argument("--every", type=int, default=100, help="steps between checkpoints")
    p.add_argument("--save", default="", help="safetensors file to write at the end")
    p.add_argument("--lr", type=float, default=1e-3, help="largest learning rate")
    p.add_argument("--warmup", type=int, default=0, help="steps over which the learning rate rises")
    p.add_argument(
        "--decay", type=int, default=0, help="step at which the learning rate reaches 0; 0: no decay"
    )
    p.add_argument("--betas", default="0.9,0.98", help="decay rates of the moments of AdamW")
    p.add_argument("--eps", type=float, default=1e-8, help="epsilon of AdamW")
    p.add_argument("--weight-decay", type=float, default=0.01, help="weight decay of AdamW")
    p.add_argument(
        "--clip", type=float, default=1.0, help="clip gradients to this total norm; 0: no clipping"
    )
    settings = HERE / "training.args"
    return p, settings.read_text().splitlines() if settings.exists() else []


def main(batch=None, report=None):
    p, settings = parser()
    options = p.parse_args([*settings, *sys.argv[1:]])
    parallel.start()
    world = torch.distributed.get_world_size() if torch.distributed.is_initialized() else 1
    device = "cuda" if torch.cuda.is_available() else "cpu"
    place = parallel.Place(EXTENTS, parallel.mesh_shape(options.mesh, world), options.order, device)
    model = Model().to(device)
    tensors, texts = load_safetensors(options.weights)
    model.load(tensors)
    module, factor = parallel.wrapped(model, place, options.parallel)
    optimizer = make_optimizer(module, options)
    step = int(texts.get("step", 0))
    if step > 0:
        checkpoint.load_moments(module, optimizer, tensors, step)
    if options.dir:
        step = checkpoint.load_checkpoint(options.dir, module, optimizer) or step
    batch = batch or reader(options.batches)
    is_first = world == 1 or torch.distributed.get_rank() == 0
    while step < options.steps:
        for group in optimizer.param_groups:
            group["lr"] = learning_rate(step, options)
        loss = step_once(module, model, optimizer, place, batch(step), options, factor)
        if is_first:
            print(f"step {step} loss {loss:.9f}", flush=True)
        step += 1
        if report:
            report(step, loss)
        if options.dir and (step % options.every == 0 or step == options.steps):
            checkpoint.save_checkpoint(options.dir, step, module, optimizer)
    if options.save:
        state = checkpoint.whole_state(module, optimizer)
        if is_first:
            save_safetensors(options.save, state, {"step": str(step)})
    if torch.distributed.is_initialized():
        torch.distributed.destroy_process_group()


if __name__ == "__main__":
    main()
