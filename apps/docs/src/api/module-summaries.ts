/** The purpose of each import path, which opens the path's page, in Markdown. */
export const moduleSummaries: Readonly<Record<string, string>> = {
  '@tilewise/core':
    'Tensors and their dtypes and layouts, the options of attention, the attention problem, and errors. All other packages use them: see [tensors and layouts](/guide/attention/tensors-and-layouts) and [attention conventions](/guide/attention/conventions).',
  '@tilewise/core/cpu':
    'Attention on the CPU, forward and backward, in WebAssembly with SIMD and threads: see [the CPU engine](/guide/attention/cpu-engine#cpu-engine).',
  '@tilewise/core/engine':
    'Building blocks for engines of your own, on any device: readers of options, the table of operands, the rules of the attention problem, the steps of FP8, and checks of tensors. See [problems and engines](/guide/attention/engines).',
  '@tilewise/core/expr':
    'Expressions that change scores and visibility, and block masks: see [score and mask mods](/guide/attention/score-and-mask-mods).',
  '@tilewise/core/host':
    'Building blocks for engines of your own that run on the host: see [problems and engines](/guide/attention/engines).',
  '@tilewise/core/primitive':
    'The operations besides attention that an engine runs, such as matrix products and reductions: see [primitives](/guide/attention/engines#primitives).',
  '@tilewise/core/reference':
    'Attention by its definition, in float64: the oracle that every engine is compared with. See [the reference](/guide/attention/cpu-engine#reference).',
  '@tilewise/graph':
    "Graphs of tensor operations, with oneDNN's names, that recognise attention and run it as one kernel: see [graphs](/guide/graphs/running) and [graph gradients](/guide/graphs/gradients).",
  '@tilewise/graph/cudnn':
    "cuDNN's attention nodes, with the arguments of its Python API: see [cuDNN's attention nodes](/guide/graphs/cudnn).",
  '@tilewise/graph/jax':
    'Exports a graph as a Python package for JAX, on one device or many: see [export to JAX](/guide/graphs/pytorch#jax).',
  '@tilewise/graph/onnx': 'Reads and writes ONNX models as graphs: see [ONNX](/guide/graphs/onnx).',
  '@tilewise/graph/ops':
    'Operations as functions, which `compile` turns into a program and `grad` differentiates: see [graphs as functions](/guide/graphs/functions). An operand is a variable, a host tensor or a number. Each operation also takes the option `dtype`, the dtype of its first result.',
  '@tilewise/graph/torch':
    'Exports a graph as a Python package for PyTorch, on one process or many: see [export to PyTorch](/guide/graphs/pytorch).',
  '@tilewise/nn':
    'Published models: loads them, generates text, and trains all weights or a LoRA adapter. See [fine-tune a published model](/start/fine-tuning) and [models](/guide/models/generation-and-training).',
  '@tilewise/nn/checkpoint':
    'Reads and writes weights in the safetensors format, from any source of bytes: see [checkpoints](/guide/models/checkpoints).',
  '@tilewise/nn/hub':
    'Downloads the files of a published model from a hub, and caches them: see [hub](/guide/models/checkpoints#hub).',
  '@tilewise/nn/onnx':
    'Loads a model that was exported as ONNX, for training and logits: see [training of ONNX models](/guide/graphs/onnx#training).',
  '@tilewise/nn/tokenizer':
    'From text to tokens and back, and chat templates. Needs the packages `@huggingface/tokenizers` and `@huggingface/jinja`.',
  '@tilewise/nn/torch':
    'Exports the training of a model as a Python package for PyTorch: see [export to PyTorch](/guide/graphs/pytorch).',
  '@tilewise/philox':
    'Random numbers and dropout masks that are a function of a seed and an offset: see [dropout and reproducibility](/guide/attention/reproducibility).',
  '@tilewise/philox/errors':
    'The errors that all packages throw, and the checks of arguments that throw them.',
  '@tilewise/philox/interop':
    'The generators of other systems, such as PyTorch, NumPy and JAX: the same words from the same seed.',
  '@tilewise/philox/wgsl':
    'The random numbers and dropout masks of `@tilewise/philox` as WGSL source, for your own shaders.',
  '@tilewise/webgpu':
    'Attention on WebGPU, forward and backward: eager calls, plans for your own encoder, and an engine for graphs. See [running attention on WebGPU](/guide/webgpu/running) and [plans](/guide/webgpu/plans).',
  '@tilewise/webgpu/doctor':
    'Reports what WebGPU offers on a machine, and whether attention is correct there: see [when something looks wrong](/guide/webgpu/running#when-something-looks-wrong).',
  '@tilewise/webgpu/fp8':
    'The options `fp8` and `mxfp8` of eager calls, with their kernels: see [FP8 and MXFP8](/guide/attention/fp8).',
  '@tilewise/webgpu/matrix':
    'Tiles that multiply with subgroup matrices, where a device has them: see [the kinds of tiles](/guide/webgpu/tiles#the-kinds-of-tiles).',
  '@tilewise/webgpu/tiles':
    'Tiles of your own for the kernels of attention: see [tiles of your own](/guide/webgpu/tiles#tiles-of-your-own).',
  '@tilewise/webgpu/trace':
    "Times each kernel with the GPU's timestamps: see [seeing what the GPU does](/guide/webgpu/tracing).",
  '@tilewise/webgpu/tune':
    'Finds the fastest tiles for a problem on a device by timing them: see [tuning on your device](/guide/webgpu/tiles#tuning-on-your-device).',
};
