// What a bundle that takes one thing from a package may weigh: minified, gzip, in bytes. `limit` is for the
// entry and the chunks that it imports statically; `dynamic` has a limit for each chunk that is imported only
// where it is needed, by the name of its module. A budget is a promise to the people who ship the code, so it
// is raised on purpose, with a reason in the commit, or not at all.
const KiB = 1024;

export const bundleBudgets = [
  { package: '@tilewise/philox', entry: "export { philox4x32 } from '@tilewise/philox'", limit: 1 * KiB },
  { package: '@tilewise/philox', entry: "export { dropoutMask } from '@tilewise/philox'", limit: 4 * KiB },
  { package: '@tilewise/core', entry: "export { Tensor } from '@tilewise/core'", limit: 6 * KiB },
  // The kernels, twice as WebAssembly and once as TypeScript, are 9 KiB of this; the tables of all options
  // and inputs, and what names the one that was meant, are 2; what refuses tensors, options and expressions
  // beyond their limits before any work, and evaluates shared expressions once, is 3.
  { package: '@tilewise/core', entry: "export { sdpa } from '@tilewise/core/cpu'", limit: 41 * KiB },
  // What makes and runs plans is the context's. Mods, FP8, MXFP8, matrices, and f16 arithmetic, prefetch and
  // subgroup statistics of tiles bring their own code.
  { package: '@tilewise/webgpu', entry: "export { sdpa } from '@tilewise/webgpu'", limit: 32 * KiB },
  {
    package: '@tilewise/webgpu',
    entry: "export { createContext, sdpa } from '@tilewise/webgpu'",
    limit: 45 * KiB,
    dynamic: { 'subgroup-kind': 4 * KiB, 'subgroup-matrix-configs': 1 * KiB },
  },
  {
    package: '@tilewise/webgpu',
    entry: "export { createContext, sdpa, sdpaBackward } from '@tilewise/webgpu'",
    limit: 54 * KiB,
    dynamic: { 'subgroup-kind': 4 * KiB, 'subgroup-matrix-configs': 1 * KiB },
  },
  // Plans with every option, mods whose scores may be −∞ among them, and the kernels of the plain operations.
  // What finds the matrices of a device, and what checks each field of a stored problem, are half a KiB each.
  {
    package: '@tilewise/webgpu',
    entry: "export { createContext, webgpuEngine } from '@tilewise/webgpu'",
    limit: 81 * KiB,
    dynamic: { 'subgroup-kind': 4 * KiB, 'subgroup-matrix-configs': 1 * KiB },
  },
  // Every operation, with its gradient and how it runs, and every pattern: a graph does not know beforehand
  // which it will have. The operations that published models and ONNX need (slices, gathers, convolution,
  // rotary positions, comparisons, the largest elements: 25 of them) are 8 KiB, and the checks of stored
  // graphs 2.
  {
    package: '@tilewise/graph',
    entry: "export { Graph, gradients } from '@tilewise/graph'",
    limit: 80 * KiB,
  },
  { package: '@tilewise/graph', entry: "export * from '@tilewise/graph/cudnn'", limit: 86 * KiB },
  { package: '@tilewise/graph', entry: "export { toOnnx } from '@tilewise/graph/onnx'", limit: 60 * KiB },
  { package: '@tilewise/nn', entry: "export * from '@tilewise/nn/checkpoint'", limit: 9 * KiB },
  { package: '@tilewise/nn', entry: "export * from '@tilewise/nn/hub'", limit: 3 * KiB },
  // The graph with every operation is 86 of these, the tables of all architectures, generation, training and
  // LoRA 14.
  { package: '@tilewise/nn', entry: "export * from '@tilewise/nn'", limit: 104 * KiB },
];
