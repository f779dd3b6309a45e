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
    },
    next: {
      step: 'Next step',
      instruction: 'Next instruction',
      tile: 'Next tile',
      row: 'Next row',
      column: 'Next column',
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

  /** What things are computed on. */
  engine: {
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
    ownFile: 'Or a text file',
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
