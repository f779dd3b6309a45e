import type { Demand, Finding } from '../../../logic/machine/check.ts';
import type { Fault } from '../../../logic/machine/program/fault.ts';
import { type Sentences, say } from '../../say.ts';
import { counted } from '../counted.ts';

/** What a program that does not meet a demand does wrong. */
const findings: Sentences<Finding> = {
  nothing: ({ cell }) => `nothing is stored in ${cell}`,
  holds: ({ cell, value, wanted }) => `${cell} holds ${value}, not ${wanted}`,
  count: ({ count }) => `the program takes ${count}`,
  'on-input': ({ input, found }) =>
    `with ${input}, ${found ? say(found, findings) : 'the program stops with an error'}`,
};

/** The toy machines, and the bench on which they are programmed. */
export const bench = {
  machines: { matrix: 'matrix machine', softmax: 'softmax machine', attention: 'attention machine' },
  dram: 'DRAM',
  registers: 'Registers',
  compute: 'Compute',
  idle: 'idle',
  empty: 'empty',
  /** A number or a vector of the machine, such as `(0.5, −1)`. */
  written: (value: string): string => value,
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
  placeholder: 'One instruction per line:\nLOAD …',
  line: (line: number, what: string): string => `Line ${line}: ${what}`,
  mustDo: 'What a solution must do',
  met: 'met',
  notMet: 'not met yet',
  solved: (cycles: number): string => `Solved in ${cycles} cycles.`,
  hint: (n: number, of: number): string => `Show hint ${n} of ${of}`,
  showSolution: 'Show a solution',
  fullTrace: 'The full trace of this program',
  traffic: (reads: number, writes: number): string =>
    `The program takes ${counted(reads, 'read', 'reads')} and ${counted(writes, 'write', 'writes')} of DRAM.`,
  bestKnown: (cycles: number, known: number): string =>
    cycles < known
      ? `The best program that we know takes ${known} cycles: you have beaten it.`
      : cycles === known
        ? 'No shorter program is known.'
        : `The best program that we know takes ${known} cycles. Can you come closer?`,
  ownBest: (cycles: number): string => `Your own best is ${cycles}.`,
  vectors:
    'A register holds a number or a small vector. Instructions work component by component, and a number is combined with every component of a vector. `DOT` multiplies two vectors and adds up the products. `FOR i = 0 TO n-1` … `END` repeats the lines in between and costs no cycles; `STEP 2` takes every other i.',
  sizes: {
    stream: 'Keys (n)',
    merge: 'Tiles (n)',
    queries: 'Queries and keys (n)',
    keys: 'Queries and keys (n)',
    row: 'Keys (n)',
    column: 'Queries (n)',
  },
  tryIt: 'Put this program into the editor',
  replaces: 'It replaces your program.',
  startOver: 'Start over',
  restore: 'Restore the replaced program',
  needsRegisters: (n: number): string => `The program needs a machine with ${n} registers.`,
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
    'operand-count': ({ usage, wanted, got }) => `${usage} takes ${wanted} operands, not ${got}`,
    'no-comma': ({ usage }) => `put a comma between operands: ${usage}`,
    'swapped-operands': ({ usage, corrected }) => `the operands are swapped: write ${corrected} (${usage})`,
    'cell-as-register': ({ instruction, written }) =>
      `${instruction} works on registers; LOAD ‘${written}’ into one first`,
    'unknown-register': ({ written, names }) =>
      `there is no register ‘${written}’; this machine has ${names.join(', ')}`,
    'wired-register': ({ wanted, got, usage }) => `the multiplier reads ${wanted} here, not ${got}: ${usage}`,
    'no-cell': ({ written, example }) =>
      `there must be a cell of DRAM here, such as ${example}, not ‘${written}’`,
    'unknown-region': ({ written, names }) =>
      `there is no ‘${written}’ in DRAM, which holds ${names.join(', ')}`,
    'index-count': ({ region, wanted, got }) =>
      `‘${region}’ has ${counted(wanted, 'index', 'indices')}, not ${got}`,
    'index-outside': ({ index, last }) => `index ${index} is outside 0 to ${last}`,
    'no-index': ({ written }) => `there must be an index here, such as 0, i or n-1, not ‘${written}’`,
    'no-variable': ({ written }) => `‘${written}’ is not a loop variable here`,
    'variable-taken': ({ written }) => `‘${written}’ is already taken`,
    'no-loop': () => 'write a loop like this: FOR i = 1 TO n-1',
    'end-without-for': () => 'END without a FOR before it',
    'for-without-end': () => 'FOR without an END after it',
    'cell-outside': ({ cell }) => `${cell} is outside the array`,
    empty: ({ place }) => `${place} is read before anything is written to it`,
    'too-long': ({ most }) => `stopped after ${most} instructions`,
  } satisfies Sentences<Fault> as Sentences<Fault>,
  demands: {
    stored: ({ cell, value }) => `${cell} = ${value}`,
    cycles: ({ most }) => `at most ${most} cycles`,
    softmax: () => 'out = softmax(x)',
    reads: ({ most }) => `at most ${counted(most, 'read', 'reads')} of DRAM`,
    'reads-of': ({ arrays, most }) => `of these, at most ${most} of ${arrays}`,
    computes: ({ formula }) => formula,
    hidden: ({ inputs }) =>
      `right on ${inputs} other inputs too: large numbers, other lengths, rising and falling maxima`,
    writes: ({ most }) => `at most ${counted(most, 'write', 'writes')} to DRAM`,
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
        'The order of the two products of an element is up to you: start with what is already there.',
        'Walk c₀₀ → c₀₁ → c₁₁ → c₁₀: each step saves one load.',
      ],
    },
    'outer-product': {
      title: 'More registers: the outer product',
      task: 'Six registers hold more than one sum. Compute all four elements in 22 cycles.',
      hints: [
        'Keep all four sums at once, in `R2` to `R5`. One column of A and one row of B then give one product for each of them: this is the outer product.',
        'Change one operand at a time, in a circle: c₀₀, c₀₁, c₁₁, c₁₀. Each step then needs one load.',
        'Then k = 1 with `MAC` into the same four registers, and four stores at the end.',
      ],
    },
    'safe-softmax': {
      title: 'Safe softmax',
      task: 'Compute softmax so that no number overflows, whatever the inputs: at most 3n reads and n writes.',
      hints: [
        'exp(x − m) never overflows when m is the maximum, and m cancels out. So find the maximum first, in a pass of its own: `r1` keeps the maximum so far.',
        'Pass 2 adds exp(x − m) up in `r2`. The exponential is used at once and never written to DRAM.',
        'Pass 3 computes each exponential again: storing them would cost n more writes and n more reads.',
      ],
    },
    stream: {
      title: 'Attention in a single pass',
      task: 'The scores `x` and the value vectors `v` of one query are in DRAM. Write softmax(x)·v to `o[0]`, and read each score and each vector once.',
      hints: [
        'Three things are kept: the maximum so far, the denominator and the numerator, which is a vector. What does a new maximum do to the other two?',
        'The factor exp(m − m′) is a number. It multiplies the denominator and every component of the numerator alike.',
        'To get a 1 without a constant: subtract a register from itself, then `EXP`. Divide once, at the very end.',
      ],
    },
    merge: {
      title: 'Merge the states of tiles',
      task: 'Each of n tiles has left its state in DRAM: the maximum `m`, the denominator `d`, the numerator `num`. Merge them all and write the output to `o[0]`.',
      hints: [
        'A tile is to the merge what a key was to the single pass, except that the maximum of either side may now have to give way.',
        'Both sides get a factor: exp(m₁ − m′) and exp(m₂ − m′). One of the two is 1.',
        'With five registers: the three of the running state, one for the new maximum, one that is loaded into. The old maximum’s register can hold its factor.',
      ],
    },
    'queries-outside': {
      title: 'The tile loop, queries outside',
      task: 'Now the scores are computed: q·k. For every query, stream through all keys and write `o`. K and V are read once for each query: n + 2n² reads, n writes.',
      hints: [
        'One more loop goes around the single pass. What is loaded once for each query, and what stays in registers until the query is done?',
        '`DOT` makes the score from q and k. No score is ever written to DRAM.',
        'The state begins anew for each query: start with key 0, then FOR j = 1 TO n-1.',
      ],
    },
    'keys-outside': {
      title: 'The tile loop, keys outside',
      task: 'Turn the loops around: load each key and value once, and bring it to every query. What does not fit into registers waits in DRAM, in `m`, `d` and `num`: at most 2n reads of K and V.',
      hints: [
        'The state of a query is loaded before its key comes and stored after it. Count what that costs.',
        'For key 0 there is no state to load yet: a loop of its own stores m = q·k, d = 1 and num = v.',
        'The division waits until the last key has passed: a third loop reads num and d and writes o.',
      ],
    },
    'two-queries': {
      title: 'Two queries at a time',
      task: 'Between the two orders lies a whole range: keep the states of *two* queries in registers, and each key serves both. n is even. Half the reads of K and V: n + n² in all.',
      hints: [
        '`FOR i = 0 TO n-2 STEP 2` walks in pairs; the second query of a pair is `q[i+1]`.',
        'Load a key and its value once, and use them for both queries before the next key comes.',
        'Each query has four registers of its own: q, m, d and num. Four registers are left for what passes through.',
      ],
    },
    'backward-row': {
      title: 'Backward, a row of dQ',
      task: 'One query, with its output `o`, the gradient `dO` and its `lse` from the forward pass. Compute dQ = Σ dS·k with dS = P·(dP − D), and read K and V only once.',
      hints: [
        'P comes back from one number: exp(q·k − lse). dP is a dot product, too: dO·v.',
        'D of the row is needed for the first dS already. It is Σ P·dP, which takes a whole pass, or dO·o, which takes none.',
        'A sum begins at zero: subtract a vector from itself.',
      ],
    },
    'backward-column': {
      title: 'Backward, a column: dK and dV',
      task: 'Now one key and its value, and all queries stream past with their `dO`, `lse` and `D`. Compute dK = Σ dS·q and dV = Σ P·dO with 4n + 2 reads.',
      hints: [
        'Softmax was a matter of rows, but `lse` and `D` carry all that a column needs to know about each row.',
        'Make P once, and use it twice: for dV, and for dS.',
        'Two sums stay in registers until the last query has passed, then both are stored.',
      ],
    },
    'online-softmax': {
      title: 'Online softmax',
      task: 'One more register, one pass less: at most 2n reads and n writes.',
      hints: [
        'Find the maximum and the sum in the same pass. When a larger number comes, the sum so far was measured against the old maximum: what factor puts that right?',
        'The factor is exp(m − m′), so both the old and the new maximum are needed: save the old one in `r3` before `MAX`.',
        'Subtract before `EXP`: exp(m) alone overflows, exp(m − m′) is at most 1.',
      ],
    },
  },
};
