export const attention = {
  intro:
    'Attention needs the softmax weights only to average value vectors. So the weights need not be kept: each is made, multiplied into a running numerator, and forgotten.',
  threeThings:
    "Three things are kept for a query: the maximum $m$ so far, the denominator $d$, and the numerator, a vector. When the maximum rises by a new key, both sums are multiplied by $e^{m-m'}$. The division comes last: one pass.",
  stream: 'One query, all its keys',
  streamWhy:
    'The query is the last word of our sentence, “tired”: it asks who. Scrub through its twelve keys, one at a time or a tile at a time. When the maximum rises, the weight of everything seen before shrinks by the same factor.',
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
};
