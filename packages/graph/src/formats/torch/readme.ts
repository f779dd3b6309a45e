/** The README of an export. */
export function readme(name: string, trains: boolean): string {
  const run = trains
    ? `## Training

\`\`\`sh
python -m ${name}.train --steps 1000                          # one process
torchrun --standalone --nproc-per-node 8 -m ${name}.train --mesh 2x4   # 2 along the batch, 4 along the sequence
\`\`\`

\`--mesh x4\` gives the batch the ranks that are left. \`--parallel\` chooses who sums gradients: one message (\`sum\`), \`ddp\` or \`fsdp\`. With
\`--dir FOLDER\` checkpoints are written, and any number of ranks continues from the newest one. \`--save FILE\` writes the weights and the moments of
AdamW as safetensors. For workers that die or join, start with

\`\`\`sh
TORCH_DISABLE_SHARE_RDZV_TCP_STORE=1 torchrun --nnodes 1:4 --nproc-per-node 8 --max-restarts 3 \\
  --rdzv-backend c10d --rdzv-id run --rdzv-endpoint HOST:29400 -m ${name}.train --dir checkpoints
\`\`\`

Batches are read from \`batches.safetensors\`; replace \`reader\` in \`train.py\` to read others.

`
    : '';
  return `# ${name}

A graph of Tilewise as a package of PyTorch. It needs PyTorch and nothing else.

\`\`\`py
from ${name}.model import EXTENTS, Model
from ${name}.parallel import Place
from ${name}.safetensors import load_safetensors

model = Model()
model.load(load_safetensors("${name}/weights.safetensors")[0])  # where there are parameters
results = model(Place(EXTENTS), ...)                            # inputs by name: see INPUTS
\`\`\`

| file | holds |
|---|---|
| \`model.py\` | the graph: one or a few lines for each operation |
| \`attention\` | attention over a sequence that is cut over ranks: keys and values go round a ring |
| \`attention/kernels.py\` | PyTorch's kernels of attention by device, the best first, and what each takes |
| \`philox.py\` | dropout masks from the index of an element in the whole tensor, so that no sharding changes them |
| \`parallel.py\` | ranks: what part of a tensor each has, and gradients over all of them |
| \`train.py\`, \`checkpoint.py\` | training, and checkpoints that any number of ranks goes on from |
| \`module.py\`, \`operations.py\` | the module's parameters and constants, and operations that PyTorch lacks |
| \`safetensors.py\` | reading and writing files of weights |

${run}## How far it goes

Each of W ranks holds n = S/W positions. Keys and values have e bytes per element, a rank reaches F floating-point operations per second, and
R bytes per second go to the next rank; c is 1, or ½ for causal attention in zigzag order. A step of the ring in one layer takes

| pass | computing | communication | computing takes longer where |
|---|---|---|---|
| forward | 4·c·B·Hq·n²·D / F | 2·B·Hk·n·D·e / R | n ≥ (Hk/Hq) · e · F / (2·c·R) |
| backward | 10·c·B·Hq·n²·D / F | 2·B·Hk·n·D·(e + 4) / R | n ≥ (Hk/Hq) · (e + 4) · F / (5·c·R) |

Batch size and head size cancel. From public figures, not measured, causal attention in bf16 on H100 (650 TFLOP/s forward, 550 backward)
is bound by computing from these positions per rank on:

| link, one direction | Hk = Hq | Hk = Hq / 4 | example |
|---|---|---|---|
| NVLink 4, 450 GB/s | 2,900 | 730 | 8 GPUs: S ≥ 24 k, or 6 k with groups of 4 heads |
| InfiniBand NDR, 50 GB/s per GPU | 26,400 | 6,600 | 64 GPUs: S ≥ 1.7 M, or 420 k with groups of 4 heads |

Beyond that use fewer ranks per sequence and more along the batch. A rank keeps e·B·n·D·(2·Hq + 2·Hk) + 4·B·Hq·n bytes of a layer for its
backward pass. A bias with an axis of queries costs n·S and is the first thing that does not scale.

The package was run on the CPU with gloo, on one to eight processes; it was not run on CUDA.
`;
}
