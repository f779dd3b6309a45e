// The most bytes, minified and gzipped, of a bundle that imports one thing from a package. `limit` is for the
// entry and the chunks that it imports statically; `dynamic` has a limit for each chunk that is imported on
// demand, by the name of its module. A budget is a promise to the people who ship the code, so raise it only
// on purpose, with a reason in the commit.
const KiB = 1024;

// Chunks that a context loads after the page: tiles for some adapters, and code for options that many
// programs do not use (see `load` of `createContext`).
const modulesOfContext = {
  'subgroup-kind': 3.5 * KiB,
  // Tiles of GPUs: the model that chooses them, and the variants that it chooses from.
  hardware: 5 * KiB,
  // Tiles that were measured on an H100.
  'nvidia-tiles': 0.5 * KiB,
  // Tiles of adapters whose GPU is a CPU, for small head sizes.
  software: 0.5 * KiB,
  // Kernels on subgroup matrices, for devices that have them: attention, and products of graphs. Three
  // quarters of a KiB were added for deferred rescaling and fewer barriers, with which variants of forward
  // took 15 to 23 % less time on an H200, and of dQ and dV 7 to 11 %; a quarter was added for products with
  // two branches for whole and other steps, variants of which took a fifth less.
  'matrix-tiles': 6 * KiB,
  'matrix-matmul-tiles': 3.5 * KiB,
  // Tiles of products of few rows, with which a device continues a text several times as fast.
  'gemv-tiles': 1.25 * KiB,
  'subgroup-matrix-configs': 1 * KiB,
  'dropout-tools': 2 * KiB,
  'mod-stages': 0.5 * KiB,
  'split-kv': 2 * KiB,
  // Half a KiB was added for the gradients of captured tensors on the tile of dQ, with tables for some lanes
  // each: 4 to 15 times as fast on lavapipe, unless each pair has an element of its own.
  'optional-gradients': 7 * KiB,
  segments: 1 * KiB,
  'sequence-tools': 1 * KiB,
  'nearest-name': 0.25 * KiB,
  // Steps that share dispatches, loaded when the same steps recur.
  'joined-work': 2.75 * KiB,
};

export const bundleBudgets = [
  { package: '@tilewise/philox', entry: "export { philox4x32 } from '@tilewise/philox'", limit: 1 * KiB },
  { package: '@tilewise/philox', entry: "export { dropoutMask } from '@tilewise/philox'", limit: 4 * KiB },
  { package: '@tilewise/core', entry: "export { Tensor } from '@tilewise/core'", limit: 6 * KiB },
  // The kernels, twice as WebAssembly and once as TypeScript, are 9 KiB of this; the tables of all options
  // and inputs, and the code that suggests the intended name, are 2; the code that refuses tensors, options
  // and expressions beyond their limits before any work, and that evaluates shared expressions once, is 3.
  { package: '@tilewise/core', entry: "export { sdpa } from '@tilewise/core/cpu'", limit: 40 * KiB },
  // The code that makes and runs plans belongs to the context, and so does code for options that few programs
  // use. FP8, MXFP8, matrices, and f16 arithmetic, prefetch and subgroup row reductions of tiles are separate
  // chunks.
  { package: '@tilewise/webgpu', entry: "export { sdpa } from '@tilewise/webgpu'", limit: 25 * KiB },
  {
    package: '@tilewise/webgpu',
    // A quarter of a KiB was added for choosing tiles by the class of a GPU, which must happen with the
    // context; the tiles themselves are a separate chunk.
    entry: "export { createContext, sdpa } from '@tilewise/webgpu'",
    limit: 40.25 * KiB,
    dynamic: modulesOfContext,
  },
  {
    package: '@tilewise/webgpu',
    entry: "export { createContext, sdpa, sdpaBackward } from '@tilewise/webgpu'",
    limit: 45 * KiB,
    dynamic: modulesOfContext,
  },
  // The kernels of the plain operations, and plans whose mods and 8-bit options are plain data. The kernel
  // that computes a whole norm, and the epilogues of products, are 2 KiB. A quarter of a KiB was added for
  // joining the steps of a graph that recur: a token of a Llama then takes three quarters of the dispatches
  // and three fifths of the processor's time. Another quarter was added for keeping the kernels of like
  // layers: the first step of training a Llama of 12 layers takes half of the time.
  {
    package: '@tilewise/webgpu',
    entry: "export { createContext, webgpuEngine } from '@tilewise/webgpu'",
    limit: 76.5 * KiB,
    dynamic: modulesOfContext,
  },
  // Every operation, with its gradient and its implementation, and every pattern, because a graph does not
  // know beforehand which it will need. The operations for published models and ONNX (slices, gathers,
  // convolution, rotary positions, comparisons, the largest elements: 25 of them) are 8 KiB, and the checks
  // of stored graphs 2. The passes that let a device train with a quarter of the dispatches are 4: `compile`
  // is synchronous, so they cannot be loaded later. The checks of the shapes of biases, factors, labels and
  // gradients, beyond whose ends kernels would read, are 0.2. The code that joins the steps of a device is a
  // quarter of a KiB, here and in the packages below.
  {
    package: '@tilewise/graph',
    entry: "export { Graph, gradients } from '@tilewise/graph'",
    limit: 75.5 * KiB,
  },
  { package: '@tilewise/graph', entry: "export * from '@tilewise/graph/cudnn'", limit: 81 * KiB },
  { package: '@tilewise/graph', entry: "export { toOnnx } from '@tilewise/graph/onnx'", limit: 22 * KiB },
  { package: '@tilewise/nn', entry: "export * from '@tilewise/nn/checkpoint'", limit: 9 * KiB },
  { package: '@tilewise/nn', entry: "export * from '@tilewise/nn/hub'", limit: 3 * KiB },
  // The readers of tokenizers and templates, which are optional peers, are loaded when a model needs them.
  {
    package: '@tilewise/nn',
    entry: "export * from '@tilewise/nn/tokenizer'",
    limit: 3.25 * KiB,
    dynamic: { tokenizers: 11 * KiB, jinja: 14.25 * KiB },
  },
  // The graph with every operation is 75 KiB of this; the tables of all architectures, generation, LoRA, and
  // a trainer with groups, scaled losses, gradient accumulation and recomputation are 27. The checks of all
  // options, batches and labels are 2: without them, a misspelt option or a label out of range is ignored.
  { package: '@tilewise/nn', entry: "export * from '@tilewise/nn'", limit: 105.5 * KiB },
  // The reader of ONNX, in place of the tables of architectures. A quarter of a KiB was added for attributes
  // and inputs that were ignored, which gave wrong numbers. The operators of com.microsoft, those on images
  // and of quantised models, and rare ones of ONNX are separate chunks, for models that need them. An eighth
  // of a KiB was added to `microsoft`, which now imports code that it shares with `quantized`.
  {
    package: '@tilewise/nn',
    entry: "export * from '@tilewise/nn/onnx'",
    limit: 106.25 * KiB,
    dynamic: { images: 4 * KiB, microsoft: 5.375 * KiB, quantized: 1.25 * KiB, rare: 1.5 * KiB },
  },
];
