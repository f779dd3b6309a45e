import type { RunsOn } from '../engine/engine.ts';
import type { Instead } from '../engine/tensor-engine.ts';
import type { Demand, Finding } from '../machine/check.ts';
import type { Fault } from '../machine/fault.ts';
import type { Sentences } from './say.ts';

/**
 * The page in English. `code`, $TeX$ and *emphasis* are marked as in `markup.ts`; what depends on numbers is a function.
 * A translation has the same keys: copy this file, translate what is quoted, name it in `languages.ts`.
 */
export const en = {
  site: {
    title: 'Tilewise: flash attention, taken apart',
    heading: 'Flash attention, taken apart',
    blurb:
      'Program a machine with three registers, and by small steps arrive at the kernels that run on your own GPU: forward, backward, dropout and all.',
    skip: 'Skip to the content',
    chapters: 'Chapters',
    chapter: (n: number): string => `Chapter ${n}`,
    next: 'Next',
    nextChapter: 'Next chapter',
    loading: (title: string): string => `Loading ${title}…`,
    language: 'Language',
    theme: { light: 'Use the light theme', dark: 'Use the dark theme' },
    failed: 'This chapter could not be loaded. Is the network there?',
    again: 'Try again',
  },

  chapters: {
    machine: {
      title: 'The machine',
      blurb: 'Multiply two matrices with three registers, one instruction at a time.',
    },
    softmax: { title: 'Softmax', blurb: 'One more register saves a whole pass over memory.' },
    attention: {
      title: 'From softmax to attention',
      blurb: 'A running maximum, a denominator, a numerator; the big matrix never exists.',
    },
    loops: {
      title: 'Loop orders',
      blurb: 'Which loop is outside decides what travels: FlashAttention-1 against -2.',
    },
    backward: {
      title: 'Backward',
      blurb: 'Gradients without the big matrices: one number per row brings everything back.',
    },
    dropout: { title: 'Dropout', blurb: 'Random bits that are computed twice instead of stored once.' },
    graph: {
      title: 'The graph',
      blurb: 'Attention as a dozen operations, and as the one kernel that a compiler can make of them.',
    },
    lab: { title: 'Attention lab', blurb: 'What masks do to scores, probabilities and gradients.' },
    train: {
      title: 'Train',
      blurb: 'A small transformer learns before your eyes, its attention with it.',
    },
    bench: {
      title: 'Bench',
      blurb: 'The kernels on your own machine, beside attention that stores its scores.',
    },
  },

  player: {
    playback: 'Playback',
    rewind: 'Rewind',
    play: 'Play',
    pause: 'Pause',
    end: 'To the end',
    back: {
      step: 'Back one step',
      instruction: 'Back one instruction',
      tile: 'Back one tile',
      row: 'Back one row',
      column: 'Back one column',
      visit: 'Back one visit',
    },
    next: {
      step: 'Next step',
      instruction: 'Next instruction',
      tile: 'Next tile',
      row: 'Next row',
      column: 'Next column',
      visit: 'Next visit',
    },
  },

  /** The toy machines of chapters 1 and 2, and the bench on which they are programmed. */
  bench: {
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
      'cell-as-register': ({ instruction, written }) =>
        `${instruction} works on registers; LOAD ‘${written}’ into one first`,
      'unknown-register': ({ written, names }) =>
        `there is no register ‘${written}’; this machine has ${names.join(', ')}`,
      'wired-register': ({ wanted, got, usage }) =>
        `the multiplier reads ${wanted} here, got ${got}: ${usage}`,
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
      writes: ({ most }) => `at most ${most} writes to DRAM`,
    } satisfies Sentences<Demand> as Sentences<Demand>,
    findings: {
      nothing: ({ cell }) => `nothing is stored in ${cell}`,
      holds: ({ cell, value, wanted }) => `${cell} holds ${value}, not ${wanted}`,
      count: ({ count }) => `there are ${count}`,
    } satisfies Sentences<Finding> as Sentences<Finding>,
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
  },

  machine: {
    intro:
      'Memory is large and far away; registers are few and near. This machine has both, and a multiplier that reads its two operands from `R0` and `R1` only. Every instruction takes one cycle. What is fast here is what is fast on a GPU: reuse a number while it is near.',
    wiring: 'The multiplier reads',
    wirings: { fixed: 'R0 and R1', any: 'any register' },
    registers: 'Registers',
    noProgramForOne: 'Four operands, two products, one store: no program takes fewer.',
    optimum: (registers: number): string =>
      `No program for this machine with ${registers} registers takes fewer.`,
    fewer: (registers: number, fewest: number): string =>
      `With ${registers} registers it can be done in ${fewest}.`,
    canItBeFewer: 'Can it be done in fewer cycles?',
    fewest: [
      'The fewest cycles for all four elements are known: every program has been tried. More registers keep more partial sums near, so that each loaded number meets more of its partners before it is replaced.',
      'Where any register may feed the multiplier, operands can wait too. Six registers are then enough to load each of the eight numbers once: eight loads, eight products, four stores, and nothing can be left out.',
    ],
    fewestCaption: 'Fewest cycles for the whole product',
    styles: 'Inner product against outer product',
    innerProduct: 'Inner product',
    outerProduct: 'Outer product',
    cyclesInAll: 'Cycles for all of C',
    stylesWhy:
      'The inner product finishes one sum before it begins the next. The outer product keeps all sums open and lets every loaded number meet both of its partners. The same choice comes back in chapter 4, with tiles for numbers.',
    quiz: 'Quiz: the inner product with six registers',
    quizAnswer: [
      'As long as only `R0` and `R1` feed the multiplier, three more registers hold nothing but sums, and an inner product has one sum at a time: it stays at 25 cycles.',
      'Let any register feed it, and the new registers hold operands. Keep row 0 of A while c₀₀ and c₀₁ are made; by then both columns of B are there and stay for c₁₁ and c₁₀. Every number is loaded once: eight loads, 20 cycles. Try it: switch the wiring above.',
    ],
    whyThree: 'Why three registers at least?',
    whyThreeAnswer:
      'Two feed the multiplier, and loading the next pair overwrites them. The sum so far needs a third. On newer GPUs (NVIDIA Blackwell) the matrix unit keeps that accumulator in a memory of its own, which frees registers for operands.',
  },

  softmax: {
    intro:
      'Softmax turns scores into weights that sum to one. $e^x$ overflows from $x \\approx 88.7$ on in 32-bit floats, so the maximum is subtracted first. But the maximum is known only when everything has been read …',
    loop: '`FOR i = 1 TO n-1` … `END` repeats the lines between; it costs nothing and shows how a program grows with n.',
    numbers: 'Numbers (n)',
    shift: 'Added to every number',
    verdict: (n: number, reads: number, writes: number): string =>
      `For n = ${n}: ${reads} reads and ${writes} writes of DRAM.`,
    paths: 'Two paths to the same sum',
    pathsWhy: [
      'The second column knows the maximum of all numbers beforehand; the last one has only the maximum so far, and corrects what it has summed whenever that rises. They differ on the way and meet at the end.',
    ],
    factor: 'The factor that corrects',
    factors: { difference: 'exp(m − m′)', quotient: 'exp(m) / exp(m′)' },
    meet: (global: string, running: string): string => `Both end in the same sum: ${global} and ${running}.`,
    overflowed: 'exp(m) is more than a 32-bit float can hold: ∞ / ∞ is not a number.',
    overflowWhy:
      "The factor $e^{m-m'}$ is at most 1. Written as $e^{m} / e^{m'}$ it is the same on paper, but $e^{100}$ is more than a 32-bit float can hold. Switch the factor, add 100 to every number, and watch.",
    showOverflow: 'Show it overflow on the machine',
    counts: 'What one register saves',
    countsWhy:
      'Counted by running both programs. The online one computes more for each number and reads one time less: memory is what is slow.',
    countsChart: (reads: readonly number[]): string =>
      `DRAM reads against n: ${reads.join(' for safe softmax, ')} for online softmax`,
    passes: 'Passes over x',
    reads: 'DRAM reads',
    writes: 'DRAM writes',
    operations: 'Operations',
    elsewhere: 'Problem 6: where else is a running value corrected?',
    elsewhereIntro:
      'A dependency on something global, the maximum, became a running state that corrects itself. The same is done elsewhere:',
    examples: [
      '*Cauchy sequences*: terms that come near each other say that there is a limit, which nobody needs to know.',
      '*Summation by parts* (Abel): terms become differences, and what has been accumulated becomes the first-class thing.',
      '*Kahan summation*: a second number tracks the rounding error and corrects the sum as it runs.',
      '*Welford\u2019s variance*: the mean moves with every number, and the sum of squares is corrected for that.',
    ],
    welfordQuiz: 'Quiz: the variance in a single pass',
    welfordAnswer: [
      'The variance needs the mean of all numbers, as softmax needs their maximum. What state is kept, and how is it corrected when a number comes?',
      'Kept are the count, the mean so far and the sum $M_2$ of squared distances from it. A new number moves the mean; the sum is corrected by a product of two distances, one from the old mean and one from the new. Here with the numbers from above:',
    ],
    welford: 'Welford\u2019s algorithm',
    nothingNew: 'Nothing new under the sun?',
    nothingNewAnswer: [
      'A running state that is corrected when its reference moves: the idea comes from statistics, the care about overflow from numerical analysis, the single pass from algorithms, and the reason to bother from computer architecture. Each field has a piece of it, and few courses put the pieces together.',
    ],
  },

  attention: {
    intro:
      'Attention needs the softmax weights only to average value vectors. So the weights need not be kept: each is made, multiplied into a running numerator, and forgotten.',
    threeThings:
      "Three things are kept for a query: the maximum $m$ so far, the denominator $d$, and the numerator, a vector. When the maximum rises by a new key, both sums are multiplied by $e^{m-m'}$. The division comes last: one pass.",
    stream: 'One query, all its keys',
    streamWhy:
      'Scrub through twelve keys, one at a time or a tile at a time. When the maximum rises, the weight of everything seen before shrinks by the same factor.',
    keysPerTile: 'Keys per tile',
    position: 'Position',
    scores: 'Scores',
    weights: 'Weights',
    values: 'Values',
    figure: (keys: number, seen: number, m: string | null): string =>
      `Scores, weights and value vectors of ${keys} keys; ${seen} have been seen, the maximum of these is ${m ?? 'not known'}`,
    maximum: 'Maximum m',
    factorOfKept: 'Factor of what was kept',
    denominator: 'Denominator d',
    numerator: 'Numerator',
    output: 'o = numerator / d',
    numbersKept: 'Numbers kept',
    kept: (here: number, naive: number): string => `${here}; by the naive way ${naive}`,
    allSeen: 'All keys are seen: o is the attention output. It is the same for every tile size.',
    rightSoFar: 'o is right for the keys seen so far at every moment.',
    problem7: 'Problem 7: derive the update rules',
    problem7Task: [
      'The output is a quotient of two sums with the same exponential weights: a vector above, a number below. Use the running maximum of chapter 2: what is the state, and how does it change when a key with score $x_k$ and value vector $\\mathbf{v}_k$ comes?',
    ],
    problem7Hint: 'Hint',
    problem7HintAnswer:
      'The factor $e^{m_k - m_{k+1}}$ is a number: it multiplies every component of the numerator. The denominator is updated as in online softmax.',
    problem7Rules: 'The rules',
    problem7State:
      'The state is two numbers and a vector of the head size $d_v$ for each query, instead of a row of $n$ weights.',
    onePass: 'Why softmax alone takes two passes, and attention one',
    onePassAnswer: [
      'Softmax must put out every weight, and each needs the final maximum and sum: so x is read again. Attention puts out one weighted average, which the running numerator already holds. Each weight is made, used and forgotten.',
    ],
    merge: 'Every element can be a tile',
    mergeWhy:
      'Two states merge by the same rule, whether each stands for one key or for a thousand. The merge is associative, so tiles can be computed anywhere, in any order, and put together later.',
    keys: (first: number, last: number): string => `keys ${first} to ${last}`,
    oneLeft: 'One state is left.',
    chooseTile: 'Choose a tile, then the one to merge it with.',
    withWhich: 'With which one?',
    merged: (merged: string, whole: string): string => `num / d = ${merged}, and computed at once ${whole}.`,
    startAgain: 'Start again',
    memory: 'P never exists',
    naive: 'Scores and probabilities, n × n each',
    streaming: 'One tile of scores and its running state',
    queriesAndKeys: 'Queries and keys',
    timesLess: (times: string): string => `The naive way keeps ${times} times as much.`,
    memoryNote: (headSize: number, tile: number): string =>
      `Logarithmic bars; one head in 32-bit floats, head size ${headSize}, tiles of ${tile} × ${tile}. The inputs are not counted.`,
    elimination: 'The general pattern: what is consumed at once need not exist',
    eliminationAnswer: [
      'P is large, made by one operation and consumed by the next, in a sum. Whenever that is so, the two can be fused: make an element, use it, forget it.',
      'Compilers know it as *loop fusion*, functional languages as *deforestation*, GPU programmers as *kernel fusion*. The condition is always the same: the intermediate appears only inside a contraction.',
    ],
    onGpu: 'From the toy machine to a GPU',
    onGpuAnswer:
      'With tiles for numbers the toy machine *is* the algorithm, at another granularity. Tiles are cut along the keys: a tile of K and V streams past a tile of queries that stays.',
    toy: 'Toy machine',
    correspondence: [
      ['Register file', 'shared memory and registers'],
      ['DRAM', 'device memory (HBM, GDDR)'],
      ['LOAD, STORE', 'movement between the two'],
      ['Multiplier', 'matrix unit (tensor core)'],
    ] as readonly (readonly [string, string])[],
  },

  loops: {
    intro:
      'Every tile of queries must meet every tile of keys. Fast memory holds one tile of each, so something is loaded again and again: with queries outside it is K and V, with keys outside it is Q and the unfinished outputs, which must also be written back.',
    side: 'Two orders, side by side',
    sideWhy:
      'The grid is the n × n matrix of pairs; around it lie the tiles in slow memory. Blue is loaded, orange stored, purple stays in fast memory.',
    tiles: 'Tiles (n)',
    slots: 'Output slots in fast memory',
    orders: {
      'inner-product': 'Queries outside: inner product, FlashAttention-2',
      'outer-product': 'Keys outside: outer product, FlashAttention-1',
    },
    grid: (met: number, all: number, now: { readonly i: number; readonly j: number } | null): string =>
      `${met} of ${all} pairs of tiles have met${now ? `; now query tile ${now.i} meets key tile ${now.j}` : ''}`,
    moved: 'Tiles moved',
    soFar: 'so far',
    inAll: 'in all',
    together: 'Together',
    traffic: { loadsQ: 'Q loads', loadsKv: 'K, V loads', loadsO: 'O loads', storesO: 'O stores' },
    outputStays: 'An output stays near until its row is done: loaded and stored once.',
    everyVisit: 'Every visit loads an unfinished output and stores it again.',
    someStay: (slots: number, n: number): string =>
      `${slots} of ${n} outputs stay near; each saves ${n - 1} loads and ${n - 1} stores.`,
    whyNotAll: 'Why not keep all outputs?',
    whyNotAllAnswer: [
      'Fast memory is shared: what holds outputs cannot hold keys. With all n outputs kept, the stores are those of the other order, at the price of fast memory that grows with the sequence. It is the choice between three and six registers of chapter 1 again, only gradual.',
    ],
    whyTwo: 'Who does what at the same time?',
    whyTwoAnswer: [
      'A GPU runs many tiles at once. With queries outside, each workgroup has a query tile of its own and never waits for another: that is why FlashAttention-2, and this library, choose it. With keys outside, workgroups that hold different keys would all add to the same outputs.',
    ],
    roofline: 'Arithmetic per byte',
    rooflineWhy:
      'A device computes at its peak only if every byte that it loads is used often enough. Under the slope memory is the limit, under the flat roof arithmetic.',
    flopPerByte: 'FLOP per byte',
    limitedBy: 'Limited by',
    limits: { memory: 'memory', arithmetic: 'arithmetic' },
    schedules: {
      naive: 'S and P stored',
      'outer-product': 'Keys outside',
      'inner-product': 'Queries outside',
    },
    rooflineChart: (points: readonly string[]): string => `Roofline. ${points.join('; ')}`,
    laptop: 'A laptop, roughly',
    arithmetic: 'Arithmetic, TFLOP/s',
    memory: 'Memory, GB/s',
    rowsPerTile: 'Rows per tile',
    rooflineNote: (sequence: number, headSize: number): string =>
      `${sequence} queries and keys, head size ${headSize}, 16-bit numbers; caches are left out. Larger tiles use each loaded byte more often.`,
    intensityQuiz: 'Quiz: what is the arithmetic intensity of each order?',
    intensityAnswer: [
      'Count one visit of a tile of $T$ queries to a tile of $T$ keys: two matrix products of $2T^2d$ operations. What it moves is K and V with queries outside; Q, O and O again with keys outside. With $b$ bytes for a number:',
    ],
  },

  backward: {
    intro: [
      'Forward threw P away. Backward needs it again, and two more matrices as large: dP and dS. None of them is stored either. One number per row, $\\mathrm{lse} = m + \\ln d$, brings every weight back on demand: $P_{ij} = e^{S_{ij} - \\mathrm{lse}_i}$.',
      'To compute something again instead of keeping it is called *activation checkpointing*. Here it is cheap: maxima and denominators are known from the first time.',
    ],
    ingredient: 'Quiz: what allows forward not to store P? It is not online softmax.',
    ingredientAnswer: [
      'Online softmax takes care of the denominator. What makes the matrix itself superfluous is *contraction*: P appears only inside the sum $\\sum_j P_{ij} \\mathbf{v}_j$, so each element can be made, used and forgotten. Backward has to find the same pattern for dP and dS, although there is a softmax between them.',
    ],
    derivation: 'The derivation',
    inIndices: 'In indices',
    stepBack: 'One step back',
    nextStep: 'Next step',
    steps: {
      forward: {
        title: 'Forward, to be undone from the end',
        why: 'The gradient of the loss by O, dO, is given. Each step goes through one of these equations backwards. All d… are gradients of the loss: dX has the shape of X.',
      },
      dV: {
        title: 'Through O = P V, to V',
        why: 'A matrix product hands its gradient to each factor, multiplied by the other factor, transposed.',
      },
      dP: {
        title: 'Through O = P V, to P',
        why: 'Row $i$ of dP is row $i$ of dO times Vᵀ: rows do not need each other.',
      },
      softmax: {
        title: 'Through the softmax',
        why: 'Raising one score lowers all other weights of its row, since they sum to one: hence the sum over the row.',
      },
      D: {
        title: 'The sum is already known',
        why: 'Exchange the sums: the row of P times V is the row of O. So D needs neither P nor dP, only dO and O.',
      },
      dQdK: {
        title: 'Through S = Q Kᵀ',
        why: 'Again a product. With a scale on the scores, both are multiplied by it.',
      },
      dX: {
        title: 'Through the projections, to X',
        why: 'Q, K and V are all made from the same X, so its gradient is a sum of three. An attention kernel stops before this and leaves it to ordinary products.',
      },
      dW: {
        title: 'Through the projections, to the weights',
        why: 'This is what the optimiser asked for. Nothing here is as large as P.',
      },
    },
    jacobian: 'Where is the derivative of a matrix by a matrix?',
    jacobianAnswer: [
      'It has four indices and is never built. It is contracted at once with the gradient that comes from behind, and a matrix is left: the same trick as with P, an intermediate that is consumed where it is made.',
    ],
    whyGradients: 'Quiz: why compute dQ, dK and dV at all?',
    whyGradientsAnswer: [
      'Nobody updates Q, K or V: they are made anew from X each time. But the gradients of the projection weights and of X are products *with* them, so they have to pass through. Each row of dQ can serve both, $dX$ and $dW_Q$, and be forgotten.',
    ],
    howMuch: 'Quiz: how much arithmetic do the projections take?',
    howMuchAnswer: [
      'Each of $dW_Q$, $dW_K$, $dW_V$ is a product of a $d \\times n$ by an $n \\times d$ matrix: $2nd^2$ operations, together $6nd^2$. dX takes three products of $n \\times d$ by $d \\times d$: again $6nd^2$. Attention itself takes five products of $2n^2d$: it dominates as soon as $n$ is larger than about $d$.',
    ],
    byRowsOrColumns: 'By rows or by columns',
    walkWhy:
      'Softmax is row-wise, so dS seems to want rows. But with lse and D known for each row, any element can be made at any time.',
    walk: 'Walk',
    walks: { rows: 'Row by row', columns: 'Column by column' },
    walkFigure: (at: number, n: number, walk: 'rows' | 'columns'): string =>
      `${at} of ${n} ${walk} of dS have been made`,
    styles: { inner: 'inner product', outer: 'outer product' },
    walkNotes: {
      rows: 'One inner, two outer. Each row of dS finishes one row of dQ; dK and dV change everywhere at every step, so all of them must be kept and added to.',
      columns:
        'Two inner, one outer: the better balance. Each column finishes one row of dK and one of dV; only dQ is left unfinished until the end.',
    },
    worth: 'What knowing D first is worth',
    worthWhy:
      'dS needs D of its row. Taken from P and dP, D is known only when the whole row has been seen, and K and V must come a second time. Taken from dO and O beforehand, once is enough: twice the arithmetic per byte.',
    whenD: 'D',
    knownD: 'D = rowsum(dO ∘ O), beforehand',
    lateD: 'D = rowsum(P ∘ dP), on the way',
    blocks: 'Blocks (n)',
    loadsFigure: (done: number, all: number): string =>
      `${done} of ${all} loads of blocks of K and V have been made; each block shows how often`,
    kLoads: 'Loads of K blocks',
    vLoads: 'Loads of V blocks',
    productsPerLoad: 'Products per load',
    purposes: {
      rows: 'This load only finds a part of D; the block will be needed again.',
      gradients: 'This load gives everything: P, dP, dS and what they add to dQ, dK and dV.',
    },
    notBegun: 'Nothing has been loaded.',
    blockSteps: {
      known: [
        'Load a block of K and V.',
        'P again, from Q, K and lse.',
        'dP from dO and V.',
        'dS from P, dP and D: no waiting.',
        'Add to dQ; K is still there.',
        'Add to dK and dV.',
        'Forget the block.',
      ],
      late: [
        'For the whole row: load K and V, make P and dP, add to D, forget them.',
        'Then again: load K and V, make P and dP a second time.',
        'dS, now that D is complete.',
        'Add to dQ, dK and dV.',
        'Forget the block.',
      ],
    },
    library: 'What the library runs',
    libraryWhy:
      'Row-wise and column-wise both leave something unfinished, which workgroups would have to add up in each other\u2019s memory. The library walks twice instead, each time the way that finishes what it computes: no atomics, and the same bits in every run.',
    mask: 'Mask',
    noMask: 'No mask',
    causal: 'Causal',
    kernels: {
      dkdv: {
        title: 'First dK and dV: a workgroup for each tile of keys',
        about:
          'Every column is a workgroup. It walks down the query tiles that see its keys and finishes its rows of dK and dV.',
      },
      dq: {
        title: 'Then dQ: a workgroup for each tile of queries',
        about:
          'Every row is a workgroup. It walks along the key tiles that it sees and finishes its rows of dQ.',
      },
    },
    kernelFigure: (at: number, n: number): string => `Every workgroup has met ${at} of at most ${n} tiles`,
    kernelTable: 'Kernels of backward',
    kernelColumns: ['Kernel', 'A workgroup has', 'It walks over', 'and finishes'],
    kernelRows: [
      ['rows', 'a few queries', 'their channels', 'D (minus the gradient of lse) and lse, side by side'],
      ['dK, dV', 'a tile of keys', 'the query tiles that see it', 'dK = dSᵀ·Q and dV = Pᵀ·dO'],
      ['dQ', 'a tile of queries', 'the key tiles that it sees', 'dQ = dS·K'],
    ],
    sevenProducts:
      'S and dP are computed in both: seven matrix products in all, where five would do. Nothing is stored that grows with the square of the sequence.',
    further: 'Could dQ, dK and dV go the same way as P?',
    furtherAnswer: [
      'They are consumed in contractions too. Fold the projection weights into the right-hand factors, which are only n × d, and dX can be summed up while dS streams by:',
      'But the weight gradients need dQ, dK and dV as well, and a framework keeps its linear layers to itself. Flash attention stops here.',
    ],
  },

  dropout: {
    intro:
      'Dropout throws each attention weight away with probability p. To store which, one would need as many bits as there are weights. Instead every bit is computed when it is needed, from a seed and from where it is: Philox turns a counter into random words, and the same counter into the same words, in forward and in backward, on any machine.',
    oneSeed: 'One seed, three conventions',
    seed: 'Seed',
    offset: 'Offset',
    share: 'Dropped (p)',
    noNumber: 'Seed and offset are whole numbers from 0 to 2⁶⁴ − 1.',
    schemes: {
      'torch-efficient': {
        title: 'PyTorch, memory-efficient',
        unit: 'one word per element, 10 rounds',
        how: 'Elements are numbered row by row from the offset on; the counter is that number divided by four, and the remainder chooses the word. Kept when the word is at least p·2³².',
      },
      'flash-attention-2': {
        title: 'FlashAttention-2',
        unit: 'one byte per element, 7 rounds',
        how: 'The mask is cut as tensor cores hold it: tiles of 16 × 32, and within them a lane of 32 for each element. One block decides sixteen elements, a byte each, so p is a multiple of 1/256.',
      },
      onednn: {
        title: 'oneDNN',
        unit: 'one word per element, 10 rounds',
        how: 'The offset fills one half of the counter, the number of the element the other: another offset is another stream. Four elements side by side share a block.',
      },
    },
    maskLabel: (title: string, i: number, j: number, kept: boolean): string =>
      `${title}: element (${i}, ${j}) is ${kept ? 'kept' : 'dropped'}. Arrow keys choose another.`,
    comparing: 'The engine is drawing the same mask …',
    compared: (differ: number, total: number): string =>
      differ === 0
        ? `The engine’s mask is the same in all ${total} elements.`
        : `The engine’s mask differs in ${differ} of ${total} elements.`,
    comparedWith: {
      webgpu: ({ description }) =>
        `Drawn here in TypeScript, and by the attention kernel on the GPU (${description}); compared bit by bit.`,
      'no-webgpu': () =>
        'Drawn here in TypeScript, and by the CPU engine, as this browser has no WebGPU; compared bit by bit.',
      'gpu-failed': ({ reason }) =>
        `Drawn here in TypeScript, and by the CPU engine; compared bit by bit. The GPU could not be used: ${reason}`,
    } satisfies Sentences<RunsOn> as Sentences<RunsOn>,
    keptShare: 'Kept',
    fromP: 'From p',
    across: 'Across',
    down: 'Down',
    note: '64 queries × 64 keys; light is kept. “From p” is how far the kept share is from 1 − p, in standard deviations; “Across” and “Down” are the correlations of neighbours.',
    element: (i: number, j: number, title: string): string => `Query ${i}, key ${j}: ${title}`,
    neighbourhood: 'The elements around it: press one to choose it',
    mates: 'Green is kept. Outlined: decided by the same Philox block.',
    counter: 'Counter',
    key: 'Key (the seed)',
    word: (lane: number): string => `Word ${lane}`,
    byte: (byte: number, lane: number): string => `Byte ${byte} of word ${lane}`,
    decision: 'Decision',
    kept: (rule: string): string => `${rule} holds: kept`,
    dropped: (rule: string): string => `${rule} does not hold: dropped`,
    drawn: (share: string, edge: string): string =>
      `The drawn number is at ${share} of its range, the threshold at ${edge}`,
    rounds: (n: number): string => `${n} rounds of Philox`,
    round: 'Round',
    block: 'Block',
    flipped: 'Bits that differ had one bit of the counter been flipped',
    roundsWhy:
      'A round multiplies two of the words by constants, swaps the halves and mixes in the key, which grows by the golden ratio. After a few rounds one flipped bit has changed about half of all 128.',
    why: 'Why not an ordinary random generator?',
    whyAnswer: [
      'An ordinary generator has a state that runs along: to know its millionth number one must draw all before it. Workgroups of a GPU compute tiles in any order, and backward walks another way than forward. A counter-based generator has no state: the element’s place *is* the counter.',
    ],
    keepMask: 'And if I have a mask of my own?',
    keepMaskAnswer: [
      'Give it: `dropout: { mask, p }`. A byte for each weight is then read instead of computed, which takes memory but reproduces anything.',
    ],
  },

  lab: {
    intro: (S: number): string =>
      `One head, ${S} queries (downwards) and ${S} keys (to the right). Grey pairs are hidden: they get no weight and no gradient. Point at a pair, or walk with the arrow keys, to see its numbers.`,
    mask: 'Mask',
    scores: 'Scores',
    probabilities: 'Probabilities P',
    gradients: 'Gradients of the scores',
    hidden: 'hidden',
    pair: (i: number, j: number): string => `Query ${i}, key ${j}`,
    mapLabel: (title: string, i: number, j: number, value: string): string =>
      `${title}: query ${i}, key ${j}: ${value}. Arrow keys choose another pair.`,
    range: (low: string, high: string): string => `${low} to ${high}`,
    seen: (share: string): string => `${share} of all pairs are seen.`,
    masks: {
      none: { title: 'No mask', about: 'Every query sees every key.' },
      causal: {
        title: 'Causal',
        about: 'A query sees the keys up to its own position. Tiles above the diagonal are skipped.',
      },
      window: {
        title: 'Sliding window',
        about: 'Only the nearest keys: work grows with the length, not with its square.',
        value: 'Keys to the left',
      },
      alibi: {
        title: 'ALiBi',
        about: 'A penalty that grows with the distance stands in for positions.',
        value: 'Slope',
      },
      softcap: {
        title: 'Softcap',
        about: 'Scores are bent by c·tanh(s/c), so that none can dominate.',
        value: 'Cap c',
      },
      document: {
        title: 'Documents',
        about: 'Several documents in one sequence: no query sees another document.',
        value: 'Documents',
      },
      prefix: {
        title: 'Prefix',
        about: 'The first keys are seen by all; after them it is causal.',
        value: 'Length of the prefix',
      },
      dilated: {
        title: 'Dilated',
        about: 'Every so many keys, counted from the query itself: far with little work.',
        value: 'Dilation',
      },
      block: {
        title: 'Block mask',
        about:
          'Tiles of 128 × 128 that nobody asks for are not computed at all: a bit for each, made from a mask mod (here: a global prefix, and the neighbourhood).',
        value: 'Keys on each side',
      },
      sink: {
        title: 'Sink',
        about: 'One more logit without a value: weights may sum to less than one.',
        value: 'Logit of the sink',
      },
    },
  },

  /** What things are computed on. */
  engine: {
    looking: 'Looking for a GPU …',
    runsOn: {
      webgpu: ({ description }) => `Computed on the GPU (${description}).`,
      'no-webgpu': () => 'Computed on the CPU: this browser has no WebGPU.',
      'gpu-failed': ({ reason }) => `Computed on the CPU: ${reason}`,
    } satisfies Sentences<RunsOn> as Sentences<RunsOn>,
    label: 'Engine',
    choices: { auto: 'GPU if there is one', webgpu: 'WebGPU', cpu: 'CPU' },
    ranOn: {
      webgpu: (engine: string): string => `Computed on the GPU (${engine}).`,
      cpu: (engine: string): string => `Computed on the CPU (${engine}).`,
    },
    instead: {
      software: ({ adapter }) =>
        `There is WebGPU, but its adapter (${adapter}) is a CPU that plays a GPU; the CPU engine is faster.`,
      error: ({ message }) => `No GPU could be used: ${message}`,
    } satisfies Sentences<Instead> as Sentences<Instead>,
  },

  graph: {
    intro: [
      'A framework does not say “attention”. It says product, scale, mask, softmax, product, and hopes that somebody notices. `@tilewise/graph` does: it finds attention in a graph of operations, however it is written, and runs what it found as *one* flash kernel. What it does not recognise runs operation by operation.',
      'This is the real partitioner. Change the graph and see what it makes of it; the gradient graph is derived from the forward one, and its attention is found again.',
    ],
    passTitles: {
      inference: 'Attention, for inference',
      training: 'Attention, forward in training',
      backward: 'Attention, backward',
    },
    pass: 'Graph',
    passes: { inference: 'Inference', training: 'Training, forward', backward: 'Training, backward' },
    mask: 'Mask',
    masks: { none: 'None', causal: 'Causal', added: 'Added', selected: 'Selected' },
    softmax: 'Softmax',
    softmaxes: { operation: 'One operation', decomposed: 'Spelled out' },
    dtype: 'Type',
    dropout: 'Dropout',
    grouped: 'Grouped heads',
    softcap: 'Softcap',
    policy: 'Partitions',
    policies: { fusion: 'Fused', debug: 'One per operation' },
    tones: {
      attention: 'one flash kernel',
      fused: 'operations run together',
      single: 'one operation',
    },
    operations: 'Operations',
    partitions: 'Partitions',
    computed: 'Results of all operations',
    stored: 'Of these, stored',
    keys: 'Arrow keys walk from operation to operation; +, − and 0 zoom; so does the wheel with Ctrl, and two fingers.',
    zoom: 'Zoom',
    zoomIn: 'Closer',
    zoomOut: 'Further away',
    zoomFit: 'Fit',
    details: 'The operation',
    reads: 'Reads',
    gives: 'Gives',
    port: 'Port',
    tensor: 'Tensor',
    shape: 'Shape',
    file: 'A graph of your own',
    drop: 'Drop a graph in the JSON format of oneDNN here (a graph dump, or an input of benchdnn) to see how it is divided.',
    chooseFile: 'Choose a file…',
    leaveFile: 'Back to the built graph',
    saveFile: 'Save this graph',
    unreadable: 'This is no graph that can be read.',
    unreadableHint:
      'A graph file is a JSON object with version, engine_kind, fpmath_mode and a list graph of operations. oneDNN writes one with ONEDNN_GRAPH_DUMP=graph.',
    run: {
      title: 'Run it',
      about:
        'Compiles each partition and runs it on random numbers, then does the same with every operation by itself. Both must give the same.',
      start: 'Run the graph',
      stop: 'Stop',
      running: 'Running…',
      failed: 'It did not run:',
      partitionsTook: (n: number): string => (n === 1 ? '1 partition' : `${n} partitions`),
      singleTook: 'Operation by operation',
      neverStored: (n: number): string => `${n} tensors never stored`,
      same: (difference: string): string =>
        `Both give the same, to within ${difference} of the largest number.`,
      singleSkipped:
        'Operation by operation it would take too long here, so there is nothing to compare with.',
      partitions: 'Partitions',
      kind: 'Kind',
      operations: 'Operations',
      kernel: 'Runs as',
      kernels: { attention: 'one attention kernel', operations: 'its operations' },
      workspace: 'Workspace',
      time: 'Time',
      results: 'Results',
      tensor: 'Tensor',
      shape: 'Shape',
      range: 'From … to',
      first: 'First numbers',
    },
  },

  measure: {
    intro: [
      'Nobody should believe a speed that was measured elsewhere. Here the kernels of this library run on *your* GPU, beside attention the way a textbook writes it: one kernel for the scores, one for the softmax, one for the product with V, and in between S × S numbers that travel to memory and back.',
    ],
    title: 'Measure',
    engine: 'On',
    engines: { auto: 'GPU if there is one', cpu: 'CPU' },
    size: 'Lengths',
    sizes: { auto: 'As this machine can', small: 'Short', medium: 'Medium', large: 'Long' },
    headSize: 'Head size',
    dtype: 'Type',
    causal: 'Causal',
    start: 'Measure',
    stop: 'Stop',
    before:
      'It takes a few seconds on a GPU, up to a minute where a CPU plays one. Nothing leaves this page.',
    progress: 'Measured so far',
    running: 'Measuring…',
    finished: (n: number): string => `${n} measurements.`,
    failed: 'It could not be measured:',
    machine: 'Machine',
    clock: 'Clock',
    clocks: { timestamps: 'of the GPU', 'wall clock': 'of the page' },
    features: 'Features',
    instead: (why: string): string =>
      `No GPU could be used: ${why} There is nothing with stored scores to compare with on the CPU.`,
    software:
      'This adapter is a CPU that plays a GPU. The numbers say that the kernels are right, and nothing about a GPU.',
    speedOf: { forward: 'Forward: speed', backward: 'Backward: speed' },
    memoryOf: 'Backward: memory',
    inTable: 'The numbers are in the table below.',
    table: 'Measurements',
    length: 'Length S',
    pass: 'Pass',
    passes: { forward: 'forward', backward: 'backward' },
    implementation: 'Way',
    implementations: { flash: 'flash', naive: 'stored' },
    time: 'Time',
    memory: 'Memory',
    error: 'Error',
    faster: 'Faster',
    failures: { 'too large': 'does not fit', wrong: 'wrong result' },
    copy: 'Copy as JSON',
    copied: { yes: 'Copied.', no: 'The browser did not allow it; the text is below.' },
    json: 'As JSON',
    counted:
      'FLOP are counted alike for both: $2 \\cdot \\text{pairs} \\cdot (D_{qk} + D_v)$ forward, $2 \\cdot \\text{pairs} \\cdot (3 D_{qk} + 2 D_v)$ backward, over pairs that see each other. What an implementation computes besides counts as time only.',
    howSummary: 'How is it measured?',
    how: [
      'Each pass is compiled and run once before the clock starts, then in rounds of about 20 ms; the median of five rounds counts. Where the GPU has timestamps they are used, else the time until its queue is empty. A worker does it, so that the page is not in the way.',
      'No time is shown of a wrong result: the last head of every result is compared with the CPU engine first (of which one head is compared with the float64 reference). The error is relative to the largest number.',
      'Attention with stored scores is written as a careful textbook would: products with tiles of 16 × 16 in workgroup memory, a workgroup for each row of the softmax. It is always in f32. Memory counts all buffers of a pass, inputs and results too.',
    ],
  },

  train: {
    intro: [
      'Attention is not written, it is learnt. Here a small transformer begins with random weights and is trained in this page: every step runs a forward graph, the gradient graph derived from it, and AdamW, with the attention of chapter 7 as one kernel in each direction.',
      'The task to begin with cannot be solved without attention. Pairs of a letter and a digit are shown, then the letters again, in another order: which digit belongs to each? Watch the loss stand still for a while and then fall, when a head finds out where to look.',
    ],
    title: 'Train a transformer',
    task: 'Learn',
    tasks: { recall: 'Recall of pairs', page: 'The text of this page', own: 'A text of your own' },
    taskWhy: {
      recall: 'Only the digit after a repeated letter counts. Guessing gives an accuracy of 10 %.',
      page: 'The next character, everywhere, in what this page says.',
      own: 'The next character, everywhere. The text stays in this page, and is not in its address.',
    },
    headCount: 'Heads',
    width: 'Width',
    layers: 'Layers',
    dropout: 'Dropout',
    seed: 'Seed',
    ownText: 'Your text',
    ownPlaceholder: 'A few pages are better than a few lines.',
    ownFile: 'Or choose a text file…',
    start: 'Train',
    pause: 'Pause',
    resume: 'Go on',
    tenSteps: 'Ten steps',
    startOver: 'Start over',
    starting: 'Getting ready…',
    failed: 'It cannot be trained:',
    step: 'Step',
    loss: 'Loss',
    accuracy: 'Accuracy',
    perStep: 'One step',
    parameters: 'Parameters',
    lossCurve: 'Loss: of each step (line), on held-out sequences (points)',
    accuracyCurve: 'Accuracy: of each step (line), on held-out sequences (points)',
    sameCurve: (alike: number, of: number): string =>
      alike === of
        ? `Same seed, same curve: all ${of} steps so far have the very loss that they had in the run before, to the last bit.`
        : `The run before had another loss from step ${alike + 1} on: engines differ in their roundings.`,
    looksAt: 'What it looks at',
    looksAtWhy:
      'Each picture is a head: a row for each token, dark where it looks. At first every token looks everywhere; in recall, look for the head in which a repeated letter finds the digit behind its first place.',
    head: (layer: number, head: number): string => `Layer ${layer}, head ${head}`,
    moment: 'When',
    afterSteps: (steps: number): string => `after ${steps} steps`,
    token: 'Token',
    looks: (token: string, most: string, at: number, share: string): string =>
      `The token ${token} looks most at ${most}, place ${at}: ${share}.`,
    ask: 'Ask it',
    askRecall: 'Pairs, and a letter again. It answers with the digit, as far as it has learnt to.',
    askText: 'It goes on with what you write, as far as it has learnt to.',
    prompt: 'Begin with',
    temperature: 'Temperature',
    goOn: 'Continue',
    right: 'right',
    wrong: (answer: string): string => `it is ${answer}`,
  },
};
