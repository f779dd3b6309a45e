"""Checkpoints of a run: parameters, AdamW's moments, and the number of finished steps."""

from pathlib import Path

import torch
import torch.distributed.checkpoint as dcp
from torch.distributed.checkpoint.state_dict import (
    StateDictOptions,
    get_optimizer_state_dict,
    get_state_dict,
    set_optimizer_state_dict,
    set_state_dict,
)


def save_checkpoint(folder, step, model, optimizer):
    """Saves parameters, moments and the number of finished steps; any number of ranks can continue from them."""
    weights, moments = get_state_dict(model, optimizer)
    state = {"model": weights, "optimizer": moments, "step": torch.tensor(step)}
    dcp.save(state, checkpoint_id=str(Path(folder) / f"step-{step:08d}"))


def load_checkpoint(folder, model, optimizer):
    """Loads the newest complete checkpoint; returns its number of finished steps, or 0 if there is none."""
    saves = sorted(path.parent for path in Path(folder).glob("step-*/.metadata"))
    if not saves:
        return 0
    weights, moments = get_state_dict(model, optimizer)
    state = {"model": weights, "optimizer": moments, "step": torch.tensor(0)}
    dcp.load(state, checkpoint_id=str(saves[-1]))
    set_state_dict(model, optimizer, model_state_dict=state["model"], optim_state_dict=state["optimizer"])
    return int(state["step"])


def load_moments(model, optimizer, tensors, step):
    """Sets AdamW's moments from adamw.first.NAME and adamw.second.NAME, and its number of steps."""
    options = StateDictOptions(full_state_dict=True)
    state = get_optimizer_state_dict(model, optimizer, options=options)
    for name, moment in state["state"].items():
        first, second = tensors[f"adamw.first.{name}"], tensors[f"adamw.second.{name}"]
        moment.update(step=torch.tensor(float(step)), exp_avg=first, exp_avg_sq=second)
    set_optimizer_state_dict(model, optimizer, state, options=options)


def whole_state(model, optimizer):
    """Parameters by name, and the moments of each under adamw.first. and adamw.second.

    All tensors are whole, on rank 0; on other ranks PyTorch returns nothing.
    """
    options = StateDictOptions(full_state_dict=True, cpu_offload=True)
    weights, moments = get_state_dict(model, optimizer, options=options)
    state = dict(weights)
    for name, moment in moments.get("state", {}).items():
        state[f"adamw.first.{name}"], state[f"adamw.second.{name}"] = moment["exp_avg"], moment["exp_avg_sq"]
    return state
