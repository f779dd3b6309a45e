import type { DefaultTheme } from 'vitepress';

/** The pages of the site, in the order in which the sidebar lists them. */
export const sidebar: DefaultTheme.Sidebar = [
  {
    text: 'Start',
    items: [
      { text: 'Why, and when', link: '/why' },
      { text: 'Which page is for you', link: '/start/' },
      { text: 'Attention on your own device', link: '/start/own-device' },
      { text: 'Train a model', link: '/start/training' },
      { text: 'Fine-tune a published model', link: '/start/fine-tuning' },
      { text: 'Kernels for a framework', link: '/start/kernels' },
      { text: 'Coming from another library', link: '/start/porting' },
      { text: 'Install from a clone', link: '/guide/install-from-a-clone' },
    ],
  },
  {
    text: 'Attention',
    items: [
      { text: 'Conventions', link: '/guide/attention-conventions' },
      { text: 'Tensors and layouts', link: '/guide/tensors-and-layouts' },
      { text: 'Grouped heads', link: '/guide/heads' },
      { text: 'Score and mask mods', link: '/guide/score-and-mask-mods' },
      { text: 'Lengths, pages and decoding', link: '/guide/decoding' },
      { text: 'Dropout and reproducibility', link: '/guide/reproducibility' },
      { text: 'FP8 and MXFP8', link: '/guide/fp8' },
      { text: 'CPU and reference engines', link: '/guide/cpu-engine' },
      { text: 'Problems and engines', link: '/guide/engines' },
    ],
  },
  {
    text: 'WebGPU',
    items: [
      { text: 'First call, errors, memory', link: '/guide/webgpu-running' },
      { text: 'Plans on your own device', link: '/guide/webgpu-plans' },
      { text: 'Tiles and tuning', link: '/guide/webgpu-tiles' },
      { text: 'Device limits', link: '/guide/webgpu-limits' },
      { text: 'Seeing what the GPU does', link: '/guide/tracing' },
      { text: 'With other libraries', link: '/guide/neighbours' },
    ],
  },
  {
    text: 'Graphs and models',
    items: [
      { text: 'Graphs', link: '/guide/graphs' },
      { text: 'Graph gradients', link: '/guide/graph-gradients' },
      { text: "cuDNN's attention nodes", link: '/guide/cudnn' },
      { text: 'Models: generation and training', link: '/guide/models' },
      { text: 'Checkpoints', link: '/guide/checkpoints' },
      { text: 'ONNX', link: '/guide/onnx' },
      { text: 'Export to PyTorch and JAX', link: '/guide/pytorch' },
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
