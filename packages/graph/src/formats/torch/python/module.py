"""The base class of exported models: parameters and constants by name."""

from pathlib import Path

import torch

from .safetensors import load_safetensors


class GraphModule(torch.nn.Module):
    """A module with parameters whose names may contain dots, and with constants from a file.

    parameters: {name: (shape, dtype)}; constants: names in constants.safetensors in the folder of `path`,
    which become buffers.
    """

    def __init__(self, parameters, constants, path):
        super().__init__()
        for full, (shape, dtype) in parameters.items():
            *folders, name = full.split(".")
            module = self
            for folder in folders:
                if not hasattr(module, folder):
                    module.add_module(folder, torch.nn.Module())
                module = getattr(module, folder)
            module.register_parameter(name, torch.nn.Parameter(torch.empty(shape, dtype=dtype)))
        if constants:
            tensors, _ = load_safetensors(Path(path).with_name("constants.safetensors"))
            for name in constants:
                x = tensors[name]
                self.register_buffer(name, x.long() if x.dtype == torch.uint32 else x, persistent=False)

    def load(self, tensors):
        """Copies tensors to the parameters of the same names."""
        missing = [name for name, _ in self.named_parameters() if name not in tensors]
        if missing:
            raise KeyError(f"the file has no tensor for {', '.join(missing)}")
        with torch.no_grad():
            for name, p in self.named_parameters():
                p.copy_(tensors[name])
