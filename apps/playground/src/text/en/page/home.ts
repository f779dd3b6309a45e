import { counted } from '../counted.ts';

export const home = {
  heading: 'Flash attention, taken apart',
  blurb:
    'Attention compares every word of a text with every other: n words, n² scores. Flash attention computes all of these scores and stores none. Find out how by writing it yourself: first on a toy machine, and in the end on your own GPU.',
  doors: {
    learn: 'Learn',
    learnWhy: 'Ten chapters, from three registers to a transformer that trains in this page.',
    use: 'Use it',
    useWhy: 'Attention for WebGPU, forward and backward, as a small TypeScript library.',
  },
  race: {
    title: 'Memory, on your machine, now',
    start: 'Run it again',
    naive: 'scores stored: n²',
    streaming: 'streamed: n',
    axisX: 'words n',
    running: (n: string): string => `Both ways are computing attention for ${n} queries and keys…`,
    result: (n: string, naive: string, streaming: string, times: string, difference: string): string =>
      `For n = ${n} this page has just allocated ${naive} for scores and weights, and ${streaming} for streaming: ${times} times less. The results differ by at most ${difference}.`,
    label: (points: readonly string[]): string => `Memory by number of words. ${points.join('; ')}`,
    point: (n: string, naive: string, streaming: string): string =>
      `${n}: ${naive} stored, ${streaming} streamed`,
  },
  model: {
    title: 'A model that learns to look',
    about:
      'The model sees letters with digits, then one of the letters again, and must find the digit of that letter. At first it guesses: 10% right.',
    start: 'Let it learn',
    pause: 'Pause',
    resume: 'Resume',
    step: 'Step',
    right: 'Right',
    loading: 'Getting ready…',
    more: 'Train your own',
    map: (step: number): string =>
      `What a head looks at after ${counted(step, 'step', 'steps')}, one row per token`,
    curve: (share: string): string => `Share of correct answers so far; now ${share}`,
  },
  learn: 'Learn it',
  use: 'Use it',
  useIntro:
    'Five lines compute attention, on your own GPU device if you already have one. There is no build step, and no dependency outside the library’s own packages. Dropout masks equal those of PyTorch bit for bit.',
  install: 'Install',
  notOnNpm: 'The packages are not on npm yet. The documentation says how to install them from a clone.',
  code: 'Attention, forward',
  docs: 'Documentation',
  repository: 'Source',
  evaluate: 'Evaluate it',
  evaluateWhy:
    'See what the compiler finds in a graph, and whether the kernels are right and fast on your machine.',
};
