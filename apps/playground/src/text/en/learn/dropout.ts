import type { RunsOn } from '../../../engine/engine.ts';
import type { Sentences } from '../../say.ts';

export const dropout = {
  intro:
    'Dropout throws each attention weight away with probability p. Storing the choice would take one bit for every weight. Instead, each bit is computed when it is needed, from a seed and from its position in the matrix. Philox turns a counter into random words. The same counter gives the same words in the forward and the backward pass, on any machine.',
  oneSeed: 'One seed, three conventions',
  seed: 'Seed',
  offset: 'Offset',
  share: 'Dropped (p)',
  noNumber: (seed: string, offset: string): string =>
    `Seed and offset are whole numbers from 0 to 2⁶⁴ − 1. The masks are those of seed ${seed} and offset ${offset}.`,
  schemes: {
    'torch-efficient': {
      title: 'PyTorch, memory-efficient',
      unit: 'one word per element, 10 rounds',
      how: 'Elements are numbered row by row from the offset on; the counter is that number divided by four, and the remainder chooses the word. An element is kept when its word is at least p·2³²; PyTorch compares 32-bit floats, and their rounding moves this threshold a little.',
    },
    'flash-attention-2': {
      title: 'FlashAttention-2',
      unit: 'one byte per element, 7 rounds',
      how: 'The mask is laid out as tensor cores hold it: in tiles of 16 × 32, in which each element belongs to one of 32 lanes. One block decides sixteen elements, with a byte for each, so p is a multiple of 1/256.',
    },
    onednn: {
      title: 'oneDNN',
      unit: 'one word per element, 10 rounds',
      how: 'The offset fills one half of the counter and the number of the element fills the other half, so each offset gives a stream of its own. Four neighbours in a row share a block.',
    },
  },
  maskLabel: (title: string, i: number, j: number, kept: boolean): string =>
    `${title}: element (${i}, ${j}) is ${kept ? 'kept' : 'dropped'}. Arrow keys choose another.`,
  comparing: 'The engine is drawing the same mask…',
  compared: (differ: number, total: number, write: (value: number) => string): string =>
    differ === 0
      ? `The engine’s mask is the same in all ${write(total)} elements.`
      : `The engine’s mask differs in ${write(differ)} of ${write(total)} elements.`,
  comparedWith: {
    webgpu: ({ description }) =>
      `Drawn here in TypeScript, and by the attention kernel on the GPU (${description}); compared bit by bit.`,
    'no-webgpu': () =>
      'Drawn here in TypeScript, and by the CPU engine, as this browser has no WebGPU; compared bit by bit.',
    'gpu-failed': ({ reason }) =>
      `Drawn here in TypeScript, and by the CPU engine; compared bit by bit. The GPU could not be used: ${reason}`,
  } satisfies Sentences<RunsOn> as Sentences<RunsOn>,
  keptShare: 'Kept',
  fromP: 'Deviation',
  across: 'Across',
  down: 'Down',
  note: '64 queries × 64 keys; light is kept. “Deviation” is how far the kept share is from 1 − p, in standard deviations; “Across” and “Down” are the correlations of neighbours.',
  element: (i: number, j: number, title: string): string => `Query ${i}, key ${j}: ${title}`,
  neighbourhood: 'The elements around it: press one to choose it',
  mates: 'Green elements are kept. Outlined elements are decided by the same Philox block.',
  counter: 'Counter',
  key: 'Key (the seed)',
  word: (lane: number): string => `Word ${lane}`,
  byte: (byte: number, lane: number): string => `Byte ${byte} of word ${lane}`,
  decision: 'Decision',
  kept: (rule: string): string => `${rule} holds: kept`,
  dropped: (rule: string): string => `${rule} does not hold: dropped`,
  drawn: (share: string, edge: string): string =>
    `The mark is the drawn number, at ${share} of its range. The threshold is at ${edge}; in the green part, an element is kept.`,
  rounds: (n: number): string => `${n} rounds of Philox`,
  round: 'Round',
  block: 'Block',
  flipped: 'Bits that would differ if one bit of the counter were flipped',
  roundsWhy:
    'A round multiplies two of the words by constants, swaps the halves and mixes in the key. After each round, one word of the key grows by the fractional part of the golden ratio, the other by that of √3. After a few rounds, flipping one bit changes about half of all 128 bits.',
  why: 'Why not an ordinary random-number generator?',
  whyAnswer: [
    'An ordinary generator has a state that moves on with every number: to get the millionth number, you must first draw all the others. But the workgroups of a GPU compute tiles in any order, and the backward pass walks in a different direction from the forward pass. A counter-based generator has no state: the position of the element *is* the counter.',
  ],
  keepMask: 'What if I have a mask of my own?',
  keepMaskAnswer: [
    'Pass it as `dropout: { mask, p }`. The kernel then reads a byte for each weight instead of drawing a random number. That takes memory, but it reproduces any mask.',
  ],
};
