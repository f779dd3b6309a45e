export const chapters = {
  overview: {
    short: 'Attention',
    title: 'What attention is',
    blurb: 'One sentence, three vectors for each word, and a square of scores.',
  },
  machine: {
    short: 'Machine',
    title: 'The machine',
    blurb: 'Multiply two matrices with three registers, one instruction at a time.',
  },
  softmax: { short: 'Softmax', title: 'Softmax', blurb: 'One more register saves a whole pass over memory.' },
  attention: {
    short: 'Streaming',
    title: 'From softmax to attention',
    blurb: 'A running maximum, a denominator, a numerator; the big matrix never exists.',
  },
  loops: {
    short: 'Loops',
    title: 'Loop orders',
    blurb: 'The choice of the outer loop decides which data moves: FlashAttention-1 versus FlashAttention-2.',
  },
  backward: {
    short: 'Backward',
    title: 'Backward',
    blurb: 'Gradients without the big matrices: one number per row brings everything back.',
  },
  kernels: {
    short: 'Kernels',
    title: 'Write the kernels',
    blurb: 'Eight kernels in WGSL, from the plain formula to dK and dV, on your own GPU.',
  },
  dropout: {
    short: 'Dropout',
    title: 'Dropout',
    blurb: 'Random bits that are computed twice instead of stored once.',
  },
  graph: {
    short: 'Graph',
    title: 'The graph',
    blurb: 'Attention as a dozen operations, and as the few kernels that a compiler can make from them.',
  },
  lab: {
    short: 'Lab',
    title: 'Attention lab',
    blurb: 'What masks do to scores, probabilities and gradients.',
  },
  train: {
    short: 'Train',
    title: 'Train',
    blurb: 'Watch a small transformer learn, and watch its attention change.',
  },
  doctor: {
    short: 'Doctor',
    title: 'Doctor',
    blurb: 'Is attention right on your GPU, and how close does it come to what the GPU can do?',
  },
};
