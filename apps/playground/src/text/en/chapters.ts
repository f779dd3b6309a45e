export const chapters = {
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
    blurb: 'Attention as a dozen operations, and as the few kernels that a compiler can make of them.',
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
};
