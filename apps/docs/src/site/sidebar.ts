import type { DefaultTheme } from 'vitepress';

/** The pages of the site, in the order in which the sidebar lists them. */
export const sidebar: DefaultTheme.Sidebar = [
  {
    text: 'Start',
    items: [
      { text: 'Why, and when', link: '/why' },
      { text: 'Choose your page', link: '/start/' },
      { text: 'Attention on your own device', link: '/start/own-device' },
      { text: 'Train a model', link: '/start/training' },
      { text: 'Fine-tune a published model', link: '/start/fine-tuning' },
      { text: 'Kernels for a framework', link: '/start/kernels' },
      { text: 'Coming from another library', link: '/start/porting' },
      { text: 'Install from a clone', link: '/start/install-from-a-clone' },
    ],
  },
  {
    text: 'Attention',
    items: [
      { text: 'Conventions', link: '/guide/attention/conventions' },
      { text: 'Tensors and layouts', link: '/guide/attention/tensors-and-layouts' },
      { text: 'Grouped heads', link: '/guide/attention/heads' },
      { text: 'Score and mask mods', link: '/guide/attention/score-and-mask-mods' },
      { text: 'Lengths, pages and decoding', link: '/guide/attention/decoding' },
      { text: 'Dropout and reproducibility', link: '/guide/attention/reproducibility' },
      { text: 'FP8 and MXFP8', link: '/guide/attention/fp8' },
      { text: 'CPU and reference engines', link: '/guide/attention/cpu-engine' },
      { text: 'Problems and engines', link: '/guide/attention/engines' },
    ],
  },
  {
    text: 'WebGPU',
    items: [
      { text: 'First call, errors, memory', link: '/guide/webgpu/running' },
      { text: 'Plans on your own device', link: '/guide/webgpu/plans' },
      { text: 'Tiles and tuning', link: '/guide/webgpu/tiles' },
      { text: 'Device limits', link: '/guide/webgpu/limits' },
      { text: 'Seeing what the GPU does', link: '/guide/webgpu/tracing' },
      { text: 'With other libraries', link: '/guide/webgpu/neighbours' },
    ],
  },
  {
    text: 'Graphs',
    items: [
      { text: 'Graphs as functions', link: '/guide/graphs/functions' },
      { text: 'How a graph runs', link: '/guide/graphs/running' },
      { text: 'Graph gradients', link: '/guide/graphs/gradients' },
      { text: "cuDNN's attention nodes", link: '/guide/graphs/cudnn' },
      { text: 'ONNX', link: '/guide/graphs/onnx' },
      { text: 'Export to PyTorch and JAX', link: '/guide/graphs/pytorch' },
    ],
  },
  {
    text: 'Models',
    items: [
      { text: 'Generation and training', link: '/guide/models/generation-and-training' },
      { text: 'Checkpoints', link: '/guide/models/checkpoints' },
    ],
  },
  {
    text: 'Facts',
    items: [
      { text: 'Limits, stated plainly', link: '/limits' },
      { text: 'Where it runs', link: '/runtimes' },
      { text: 'Comparison', link: '/comparison' },
      { text: 'Performance', link: '/performance' },
      { text: 'Support and versions', link: '/support' },
    ],
  },
  {
    text: 'Internals',
    items: [
      { text: 'Architecture', link: '/architecture' },
      { text: 'How a kernel is made', link: '/internals/kernels' },
      { text: 'Extending', link: '/extending' },
      { text: 'Tests of exports', link: '/pytorch-tests' },
      { text: 'Glossary', link: '/glossary' },
    ],
  },
  { text: 'Reference', items: [{ text: 'API', link: '/api/' }] },
];
