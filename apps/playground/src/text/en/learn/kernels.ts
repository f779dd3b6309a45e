import type { Place, Wrong } from '../../../logic/kernels/compare.ts';
import type { Failure } from '../../../logic/kernels/gpu/failure.ts';
import type { Judgement, ReadCount, Stage, Times } from '../../../logic/kernels/judge.ts';
import type { Sentences } from '../../say.ts';
import { counted } from '../counted.ts';

type WrongJudgement = Extract<Judgement, { kind: 'wrong' }>;

const element = ({ array, row, column }: Place): string =>
  column === null ? `${array}, row ${row}` : `${array}, row ${row}, column ${column}`;

/** The chapter in which kernels are written. */
export const kernels = {
  intro: [
    'The toy machine had a few registers. Your GPU has thousands of lanes, and each still needs the same three quantities: a maximum, a denominator, a numerator. Here you write the kernels in WGSL, the language of WebGPU, from the plain formula to both halves of the backward pass.',
    'A program runs on your own GPU, on hidden inputs: scores that overflow, lengths that are not a multiple of the tile size, maxima that rise and fall. Its results are compared with a float64 reference, its reads are counted, and then it races against a simple kernel and the best kernel that we know.',
  ],
  label: 'Puzzle',
  given: 'Placed before your program',
  dispatch: {
    lanes: 'Runs as $\\lceil n/64 \\rceil$ workgroups.',
    tile: 'Runs as $\\lceil n/\\text{TILE} \\rceil$ workgroups.',
    row: 'Runs as one workgroup for each row.',
  },
  program: (title: string): string => `Kernel: ${title}`,
  placeholder: '@compute @workgroup_size(64)\nfn main() { … }',
  run: 'Run',
  runKeys: 'Ctrl + Enter runs the kernel, too.',
  stages: {
    compiling: () => 'Compiling…',
    checking: ({ done, of }) => `Right on ${done} of ${of} hidden inputs…`,
    timing: () => 'Right. Measuring time…',
  } satisfies Sentences<Stage> as Sentences<Stage>,
  changed: 'You have changed the program since this run.',
  notRun: 'Not run yet.',
  line: (line: number, message: string): string => `Line ${line}: ${message}`,
  failures: {
    'no-webgpu': () =>
      'This browser has no WebGPU, so nothing can run here. You can still write programs, read the hints and look at the solutions. Chrome, Edge, Safari 26 and Firefox 141 have WebGPU.',
    'no-adapter': ({ message }) =>
      `The browser has WebGPU but gives no device. ${message || 'Perhaps its GPU is switched off.'} Chrome offers a software adapter when it is started with --enable-unsafe-swiftshader.`,
    compiler: ({ errors }) =>
      errors.length === 1
        ? 'The program does not compile.'
        : `The program does not compile: ${errors.length} errors.`,
    refused: ({ message }) => `The program compiles, but the device rejects it: ${message}`,
    lost: ({ message }) =>
      `The device was lost. ${message} Your program is kept, and the next run opens a new device.`,
    hung: ({ seconds }) =>
      `Nothing came back in ${seconds} seconds, so the page gave up on the device. Is there a loop that never ends? Your program is kept, and the next run opens a new device.`,
    busy: () =>
      'No device was available. Perhaps a kernel that never ends still keeps the GPU busy: reload the page. Your program is kept.',
  } satisfies Sentences<Failure> as Sentences<Failure>,
  inputs: {
    whole: 'plain numbers',
    tail: 'an n that is not a multiple of the tile size',
    one: 'a single key',
    falling: 'falling scores',
    rising: 'rising scores',
    high: 'scores near 120',
    low: 'scores near −120',
  } satisfies Record<WrongJudgement['input'], string>,
  wrongOn: (input: string, n: number): string => `Wrong on ${input} (n = ${n}).`,
  wrong: {
    differs: (place, short) =>
      `The largest error is in ${element(place)}: ${short(place.got)}, not ${short(place.wanted)}.`,
    unwritten: place => `Nothing was written to ${element(place)}.`,
    outside: ({ array, row }) => `${array} was written beyond its end, in row ${row}.`,
  } as {
    readonly [K in Wrong['kind']]: (
      wrong: Extract<Wrong, { readonly kind: K }>,
      short: (value: number) => string,
    ) => string;
  },
  slips: {
    scale: 'These are the results without the scale: $1/\\sqrt{d}$ is missing.',
    mask: 'These are the results without the mask: every query sees every key.',
    normalise: 'These are the results before the division by the sum.',
    rescale:
      'These are the results of sums that keep their size when the maximum rises: the sums must shrink by $e^{m - m^{\\prime}}$.',
    delta: 'These are the results of $dS = P \\circ dP$: delta has not been subtracted.',
    barrier:
      'Lanes read what other lanes write. There must be a `workgroupBarrier()` between the two, and another one before that memory is written again.',
    race: 'A second run gave other results: some lane reads what another lane is still writing. Check your barriers.',
  } satisfies Record<NonNullable<WrongJudgement['slip']>, string>,
  inputHints: {
    whole: 'Nothing about this input is special: check the formula.',
    tail: 'Here n is not a multiple of the workgroup size. Which load, or which loop, runs past the end?',
    one: 'There is one key only, so its weight is 1.',
    falling: 'The maximum comes first here: nothing after it may raise m.',
    rising:
      'The maximum rises with every key here: what was summed before must shrink by $e^{m - m^{\\prime}}$.',
    high: '$e^{120}$ is more than an f32 can hold: subtract the maximum before `exp`.',
    low: '$e^{-120}$ is 0 in an f32. A maximum that starts at 0 never finds these scores: start far below.',
  } satisfies Record<WrongJudgement['input'], string>,
  right: (inputs: number): string => `Right on all ${inputs} hidden inputs.`,
  largest: (error: string, allowed: string, place: string): string =>
    `Largest error ${error} at ${place}; rounding allows ${allowed}.`,
  exact: 'Exact to the last bit.',
  place: ({ array, row, column }: Place): string =>
    column === null ? `${array}[${row}]` : `${array}[${row}][${column}]`,
  reads: ({ array, unit, found, most }: ReadCount, write: (value: number) => string): string =>
    unit === 'tiles'
      ? `${counted(found, 'tile', 'tiles', write)} of ${array} read, ${write(most)} ${most === 1 ? 'is' : 'are'} enough`
      : `${counted(found, 'pass', 'passes', write)} over ${array}, ${write(most)} ${most === 1 ? 'is' : 'are'} enough`,
  tooSlow: 'Right, but the program reads more than it needs to, so its time is not measured yet.',
  times: { own: 'Yours', rival: 'Simple', best: 'Best known' },
  timesCaption: 'Time of one dispatch',
  ms: (time: string): string => `${time} ms`,
  race: {
    ahead: 'Faster than the best kernel that we know.',
    level: 'As fast as the best kernel that we know.',
    behind: (times: string): string => `The best kernel that we know is ${times} times as fast.`,
  },
  measured: ({ sizes, clock, device, software }: Times, write: (value: number) => string): string =>
    `n = ${write(sizes.n)}, on ${device || 'this GPU'}${software ? ', a CPU that emulates a GPU' : ''}, by ${clock === 'timestamps' ? 'the GPU’s own clock' : 'the page’s clock'}.`,
  puzzles: {
    naive: {
      short: 'Naive',
      title: 'Attention, straight from the formula',
      task: 'One invocation for each query: $o_i = \\sum_j p_{ij} v_j$ with $p_{ij} = e^{s_{ij} - m_i} / \\ell_i$ and $s_{ij} = q_i \\cdot k_j / \\sqrt{d}$. Compute the scores as often as you like, but store none of them.',
      hints: [
        'A row needs three things: its maximum m, the sum ℓ of $e^{s - m}$, and the sum of $e^{s - m} v$. The maximum needs a loop of its own.',
        'Begin with `var m = score(i, 0u);` and go on with `max`. In a second loop, add p to ℓ and p times row j of `v` to `o_i`.',
        'The division by ℓ is there already: replace `var l = 1.0` by a sum that begins at 0.',
      ],
    },
    'row-softmax': {
      short: 'Row softmax',
      title: 'A row of softmax, by 64 lanes',
      task: 'One workgroup for each row: $y_j = e^{x_j - m} / \\sum_k e^{x_k - m}$. Each lane sees every 64th number; through workgroup memory, the lanes agree on the maximum and on the sum. At most three passes over x.',
      hints: [
        'Each lane writes its own maximum to `part[lane]`. Then half of the lanes each take the larger of two numbers, then a quarter of the lanes, until one number is left: a tree.',
        '`for (var half = LANES / 2u; half > 0u; half /= 2u)`: lanes below `half` combine `part[lane]` with `part[lane + half]`. After every step comes `workgroupBarrier()`, outside of the `if`.',
        'All lanes read `part[0]`. One more barrier must follow before `part` is used again, for the sums.',
      ],
    },
    'streaming-softmax': {
      short: 'Streaming',
      title: 'Maximum and sum in one pass',
      task: 'The same softmax with at most two passes over x: each lane carries a state $(m, \\ell)$, and states merge by $\\ell = \\ell_a e^{m_a - m} + \\ell_b e^{m_b - m}$ with $m = \\max(m_a, m_b)$.',
      hints: [
        'A single number x is the state (x, 1). So one function does both: it takes in a number, and it merges two lanes.',
        'Mind the exponents: `exp(a.x - m)` and `exp(b.x - m)`. The larger state keeps its sum, the other one shrinks.',
        'Then the tree of the previous puzzle, with `merge` in place of `max`, and barriers in the same places.',
      ],
    },
    'tiled-forward': {
      short: 'Tiles',
      title: 'The forward pass, tile by tile',
      task: 'One workgroup for a tile of queries, one lane for each. The lanes load a tile of k and v together, then each streams through it with its own m, ℓ and $o_i$. Write o and $\\mathrm{lse}_i = m + \\ln \\ell$, and load each tile once for each workgroup.',
      hints: [
        'A tile has TILE · D numbers and TILE lanes: each lane loads every TILE-th number, and none beyond n · D. Barriers come before the loading and after it.',
        'Keep $q_i$ in registers (`array<f32, D>`). For each key of the tile: its score s, then `m_new = max(m, s)`, `factor = exp(m - m_new)`, `p = exp(s - m_new)`.',
        'Both l and every component of `o_i` are multiplied by `factor`, then p and p times v are added. The last tile has `min(TILE, sizes.n - first)` keys.',
      ],
    },
    'causal-skip': {
      short: 'Causal',
      title: 'Skip what nobody sees',
      task: 'Query i now sees only the keys $j \\le i$. The tiled kernel is in the editor: add the mask, and do not even load the tiles of keys that come after the last query of a workgroup.',
      hints: [
        'The last query of a workgroup is `(group.x + 1u) * TILE - 1u`: the loop over tiles can end there.',
        'Inside a tile a lane stops at its own key: `if (first + j > i) { break; }`. All lanes must reach every barrier, so the `break` belongs in the inner loop.',
        'Four tiles of queries against four of keys make 16; on and below the diagonal there are 10.',
      ],
    },
    delta: {
      short: 'Delta',
      title: 'One number for each row',
      task: 'The backward pass needs $\\delta_i = \\sum_c dO_{ic}\\, o_{ic}$, one number for each query. With it, one pass over k and v is enough; without it, there would have to be two.',
      hints: [
        'One invocation, one row: a loop over the D columns.',
        'Element c of row i is at `i * D + c`, in `dO` and in `o` alike.',
        'Write the sum to `delta[i]`.',
      ],
    },
    dq: {
      short: 'dQ',
      title: 'Backward, a tile of dQ',
      task: 'The statistics of the forward pass bring P back: $p = e^{s - \\mathrm{lse}_i}$. Compute $dq_i = \\frac{1}{\\sqrt{d}} \\sum_j p\\,(dp - \\delta_i)\\, k_j$ with $dp = dO_i \\cdot v_j$, and load each tile of k and v once for each workgroup.',
      hints: [
        'The loop over tiles is that of the forward pass, with its barriers. Nothing has to be corrected on the way: lse is known.',
        'A lane keeps $q_i$, $dO_i$ and `stats[i]` of its query in registers. Lanes beyond n still load tiles, and still reach the barriers.',
        'Each key takes two dot products, s and dp; then `ds = p * (dp - row.y)`, and ds times the key is added to `dq_i`.',
      ],
    },
    dkv: {
      short: 'dK, dV',
      title: 'Backward, a tile of dK and dV',
      task: 'Now a lane owns a key, and queries stream past: $dv_j = \\sum_i p\\, dO_i$ and $dk_j = \\frac{1}{\\sqrt{d}} \\sum_i p\\,(dp - \\delta_i)\\, q_i$. Load each tile of q and dO once for each workgroup; no atomics are needed.',
      hints: [
        'The same loop with the roles exchanged: $k_j$ and $v_j$ stay in registers, tiles of `q` and `dO` come and go.',
        'lse and delta belong to the query now, so a tile of them is needed as well: `stats_tile[lane]`.',
        'p and ds are those of the previous puzzle. p times row i of dO goes to `dv_j`, ds times row i of q goes to `dk_j`.',
      ],
    },
  },
};
