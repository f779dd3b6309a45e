/** The README of an exported package. */
export function readme(name: string, trains: boolean): string {
  const run = trains
    ? `## Training

\`\`\`sh
python -m ${name}.train --steps 1000                          # one process
torchrun --standalone --nproc-per-node 8 -m ${name}.train --mesh 2x4   # 2 along the batch, 4 along the sequence
\`\`\`

\`--mesh x4\` gives the remaining ranks to the batch. \`--parallel\` chooses how gradients are summed: in one message (\`sum\`), by \`ddp\` or by \`fsdp\`. With
\`--dir FOLDER\`, checkpoints are written, and any number of ranks can continue from the newest one. \`--save FILE\` writes the weights and the moments of
AdamW as safetensors. If workers may die or join during training, start with

\`\`\`sh
TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1 torchrun --nnodes 1:4 --nproc-per-node 8 --max-restarts 3 \\
  --rdzv-backend c10d --rdzv-id run --rdzv-endpoint HOST:29400 -m ${name}.train --dir checkpoints
\`\`\`

Batches are read from \`batches.safetensors\`; replace \`reader\` in \`train.py\` to read other data.

`
    : '';
  return `# ${name}

A Tilewise graph as a PyTorch package. It needs only PyTorch.

\`\`\`py
from ${name}.model import EXTENTS, Model
from ${name}.parallel import Place
from ${name}.safetensors import load_safetensors

model = Model()
model.load(load_safetensors("${name}/weights.safetensors")[0])  # only with parameters
results = model(Place(EXTENTS), ...)                            # inputs by name: see INPUTS
\`\`\`

| file | holds |
|---|---|
| \`model.py\` | the graph: one or a few lines per operation |
| \`attention\` | attention over a sequence that is sharded over ranks: keys and values travel around a ring |
| \`attention/kernels.py\` | PyTorch's attention kernels for each device, the fastest first, and what each supports |
| \`philox.py\` | dropout masks that depend only on the index of an element in the whole tensor, so that sharding does not change them |
| \`parallel.py\` | the part of each tensor that a rank has, and gradients over all ranks |
| \`train.py\`, \`checkpoint.py\` | training, and checkpoints from which any number of ranks can continue |
| \`module.py\`, \`operations.py\` | the module's parameters and constants, and operations that PyTorch lacks |
| \`safetensors.py\` | reads and writes weight files |

${run}## How far it scales

Each of W ranks holds n = S/W positions. Keys and values have e bytes per element, a rank reaches F floating-point operations per second, and
R bytes per second go to the next rank; c is 1, or ½ for causal attention in zigzag order. One step of the ring in one layer takes

| pass | computation | communication | computation takes longer if |
|---|---|---|---|
| forward | 4·c·B·Hq·n²·D / F | 2·B·Hk·n·D·e / R | n ≥ (Hk/Hq) · e · F / (2·c·R) |
| backward | 10·c·B·Hq·n²·D / F | 2·B·Hk·n·D·(e + 4) / R | n ≥ (Hk/Hq) · (e + 4) · F / (5·c·R) |

Batch size and head size cancel. From public figures, not measured, causal attention in bf16 on H100 (650 TFLOP/s forward, 550 backward)
is compute-bound from these numbers of positions per rank:

| link, one direction | Hk = Hq | Hk = Hq / 4 | example |
|---|---|---|---|
| NVLink 4, 450 GB/s | 2,900 | 730 | 8 GPUs: S ≥ 24 k, or 6 k with groups of 4 heads |
| InfiniBand NDR, 50 GB/s per GPU | 26,400 | 6,600 | 64 GPUs: S ≥ 1.7 M, or 420 k with groups of 4 heads |

With fewer positions per rank, use fewer ranks per sequence and more along the batch. A rank stores e·B·n·D·(2·Hq + 2·Hk) + 4·B·Hq·n bytes per layer for its
backward pass. A bias with a query axis takes n·S elements per rank, and is the first part that does not scale.

The package was tested on the CPU with gloo, in one to eight processes, but not on CUDA.
`;
}
