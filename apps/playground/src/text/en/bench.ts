import type { Demand, Finding } from '../../machine/check.ts';
import type { Fault } from '../../machine/fault.ts';
import { type Sentences, say } from '../say.ts';

/** What was found where a demand is not met. */
const findings: Sentences<Finding> = {
  nothing: ({ cell }) => `nothing is stored in ${cell}`,
  holds: ({ cell, value, wanted }) => `${cell} holds ${value}, not ${wanted}`,
  count: ({ count }) => `there are ${count}`,
  'on-input': ({ input, found }) =>
    `with ${input}, ${found ? say(found, findings) : 'the program stops with an error'}`,
};

/** The toy machines of chapters 1 and 2, and the bench on which they are programmed. */
export const bench = {
  machines: { matrix: 'matrix machine', softmax: 'softmax machine' },
  dram: 'DRAM',
  registers: 'Registers',
  compute: 'Compute',
  idle: 'idle',
  empty: 'empty',
  nothingYet: 'Nothing has been executed.',
  executed: (instruction: string, place: string, value: string): string =>
    `${instruction}. ${place} is now ${value}`,
  instructions: 'Instructions',
  instructionSet: 'The instruction set',
  instruction: 'Instruction',
  operation: 'Operation',
  exercise: 'Exercise',
  problem: (n: number): string => `Problem ${n}`,
  registerCount: (n: number): string => `${n} registers`,
  program: (title: string): string => `Program: ${title}`,
  placeholder: 'One instruction a line:\nLOAD …',
  line: (line: number, what: string): string => `Line ${line}: ${what}`,
  mustDo: 'What a solution must do',
  met: 'met',
  notMet: 'not met yet',
  solved: (cycles: number): string => `Solved in ${cycles} cycles.`,
  hint: (n: number): string => `Hint ${n}`,
  fullTrace: 'The full trace of a solution',
  tryIt: 'Put this program into the editor',
  replaces: 'It replaces yours.',
  startOver: 'Start over',
  restore: 'Restore the replaced program',
  needsRegisters: (n: number): string => `It needs a machine with ${n} registers.`,
  trace: 'Trace',
  solutionTrace: 'Trace of the solution',
  step: 'Step',
  loads: 'Loads',
  computes: 'Compute',
  stores: 'Stores',
  cycles: 'Cycles',
  completion: {
    for: 'i = 1 TO n-1: repeats the lines up to END',
    end: 'ends a FOR',
    wired: 'wired to the multiplier',
    cell: 'DRAM',
    register: 'register',
  },
  faults: {
    'unknown-instruction': ({ written, near, names }) =>
      `there is no instruction ‘${written}’; ${near ? `did you mean ${near}?` : `this machine has ${names.join(', ')}`}`,
    'operand-count': ({ usage, wanted, got }) => `${usage} takes ${wanted} operands, got ${got}`,
    'swapped-operands': ({ usage, corrected }) => `the operands are swapped: write ${corrected} (${usage})`,
    'cell-as-register': ({ instruction, written }) =>
      `${instruction} works on registers; LOAD ‘${written}’ into one first`,
    'unknown-register': ({ written, names }) =>
      `there is no register ‘${written}’; this machine has ${names.join(', ')}`,
    'wired-register': ({ wanted, got, usage }) => `the multiplier reads ${wanted} here, got ${got}: ${usage}`,
    'no-cell': ({ written, example }) => `must be a cell of DRAM such as ${example}, got ‘${written}’`,
    'unknown-region': ({ written, names }) =>
      `there is no ‘${written}’ in DRAM, which holds ${names.join(', ')}`,
    'index-count': ({ region, wanted, got }) => `‘${region}’ has ${wanted} indices, got ${got}`,
    'index-outside': ({ index, last }) => `index ${index} is outside 0 to ${last}`,
    'no-index': ({ written }) => `must be an index such as 0, i or n-1, got ‘${written}’`,
    'no-variable': ({ written }) => `‘${written}’ is no loop variable here`,
    'variable-taken': ({ written }) => `‘${written}’ is already taken`,
    'no-loop': () => 'a loop reads: FOR i = 1 TO n-1',
    'end-without-for': () => 'END without a FOR before it',
    'for-without-end': () => 'FOR without an END after it',
    'cell-outside': ({ cell }) => `${cell} is outside the array`,
    empty: ({ place }) => `${place} is read before anything was put there`,
    'too-long': ({ most }) => `stopped after ${most} instructions`,
  } satisfies Sentences<Fault> as Sentences<Fault>,
  demands: {
    stored: ({ cell, value }) => `${cell} = ${value}`,
    cycles: ({ most }) => `at most ${most} cycles`,
    softmax: () => 'out = softmax(x)',
    reads: ({ most }) => `at most ${most} reads of DRAM`,
    hidden: ({ inputs }) =>
      `right on ${inputs} other inputs too: large numbers, other lengths, rising and falling maxima`,
    writes: ({ most }) => `at most ${most} writes to DRAM`,
  } satisfies Sentences<Demand> as Sentences<Demand>,
  findings,
  problems: {
    'one-element': {
      title: 'One element',
      task: 'Compute c₀₀ = a₀₀b₀₀ + a₀₁b₁₀ and store it. Three registers: two feed the multiplier, one holds the sum.',
      hints: [
        'The first product has nothing to be added to: `MAC_Z`. The second adds to it: `MAC`.',
        'Loading the next operands overwrites `R0` and `R1`, so the sum must wait in `R2`.',
        'Four loads, two multiplications and one store make seven cycles.',
      ],
    },
    'inner-product': {
      title: 'The whole matrix, element by element',
      task: 'Compute all four elements. Four times seven is 28 cycles, but neighbours share operands: do it in 25.',
      hints: [
        'When an element is done, `R0` and `R1` still hold its last operands. Which element could begin with one of them?',
        'The order of the two products of an element is yours: start with what is already there.',
        'Walk c₀₀ → c₀₁ → c₁₁ → c₁₀: each step saves one load.',
      ],
    },
    'outer-product': {
      title: 'More registers: the outer product',
      task: 'With six registers all four sums can be kept at once. Load one column of A and one row of B at a time: 22 cycles.',
      hints: [
        'For k = 0 load a₀₀, a₁₀, b₀₀ and b₀₁ and use every pair: four `MAC_Z` into `R2` to `R5`.',
        'Change one operand at a time, in a circle: c₀₀, c₀₁, c₁₁, c₁₀. Each step then needs one load.',
        'Then k = 1 with `MAC` into the same four registers, and four stores at the end.',
      ],
    },
    'safe-softmax': {
      title: 'Safe softmax',
      task: 'Compute softmax with the maximum subtracted first. Three registers, three passes over x: 3n reads, n writes.',
      hints: [
        'Pass 1 keeps the maximum so far in `r1` and needs one more register for the number it looks at.',
        'Pass 2 adds exp(x − m) up in `r2`. The exponent is used at once and never written to DRAM.',
        'Pass 3 computes each exponent again: to store them would cost n writes and n reads more.',
      ],
    },
    'online-softmax': {
      title: 'Online softmax',
      task: 'One more register: find the maximum and the sum in the same pass. Two passes, 2n reads, n writes.',
      hints: [
        'When a larger number comes, the sum so far was measured against the old maximum: multiply it by exp(m − m′).',
        'Both the old and the new maximum are needed for that: save the old one in `r3` before `MAX`.',
        'Subtract before `EXP`: exp(m) alone overflows, exp(m − m′) is at most 1.',
      ],
    },
  },
};
