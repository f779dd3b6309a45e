export const attention = {
  intro:
    'Attention needs the softmax weights for one thing only: to average the value vectors. So no weight has to be kept: each is computed, multiplied by its value vector, added to a running numerator, and forgotten.',
  threeThings:
    "For each query we keep three things: the maximum $m$ so far, the denominator $d$, and the numerator, which is a vector. When a new key raises the maximum to $m'$, both sums are multiplied by $e^{m-m'}$. The division comes last, so one pass is enough.",
  stream: 'One query, all its keys',
  streamWhy:
    'The query is the last word of our sentence: “tired” asks who is. Step through the twelve keys, one at a time or a tile at a time. When the maximum rises, everything seen before shrinks by the same factor.',
  keysPerTile: 'Keys per tile',
  position: 'Position',
  scores: 'Scores',
  weights: 'Weights',
  values: 'Values',
  figure: (keys: number, seen: number, m: string | null): string =>
    `Scores, weights and value vectors of ${keys} keys; ${seen} ${seen === 1 ? 'has' : 'have'} been seen, the maximum of these is ${m ?? 'not known'}`,
  maximum: 'Maximum m',
  factorOfKept: 'Correction factor',
  denominator: 'Denominator d',
  numerator: 'Numerator',
  output: 'o = numerator / d',
  numbersKept: 'Numbers kept',
  kept: (here: number, naive: number): string => `${here}; naively ${naive}`,
  allSeen: 'All keys have been seen, and o is the attention output. Every tile size gives the same.',
  rightSoFar: 'At every moment, o is right for the keys seen so far.',
  merge: 'Every element can be a tile',
  mergeWhy:
    'Two states merge by the same rule, whether each stands for one key or for a thousand. The merge is associative and commutative, so tiles can be computed anywhere and in any order, and merged later.',
  keys: (first: number, last: number): string => `keys ${first} to ${last}`,
  oneLeft: 'One state is left.',
  chooseTile: 'Choose a tile, then the one to merge it with.',
  withWhich: 'With which one?',
  merged: (merged: string, whole: string): string => `num / d = ${merged}; computed in one go: ${whole}.`,
  startAgain: 'Undo all merges',
  memory: 'P never exists',
  naive: 'Scores and probabilities, n × n each',
  streaming: 'One tile of scores and its running state',
  queriesAndKeys: 'Queries and keys',
  timesLess: (times: string): string => `The naive way takes ${times} times as much memory.`,
  memoryNote: (headSize: number, tile: number): string =>
    `The bars are logarithmic. One head in 32-bit floats, head size ${headSize}, tiles of ${tile} × ${tile}. The inputs are not counted.`,
  elimination: 'The general pattern: what is consumed at once need not be stored',
  eliminationAnswer: [
    'P is large. One operation makes it, and the next consumes it in a sum. Whenever this is so, the two operations can be fused: make an element, use it, forget it.',
    'Compilers call this *loop fusion*, functional languages *deforestation*, and GPU programmers *kernel fusion*. The condition is always the same: the intermediate result appears only inside a contraction.',
  ],
  onGpu: 'From the toy machine to a GPU',
  onGpuAnswer:
    'Put tiles in place of numbers, and the toy machine *is* the algorithm. Tiles are cut along the keys: tiles of K and V stream past a tile of queries that stays.',
  toy: 'Toy machine',
  correspondence: [
    ['Register file', 'shared memory and registers'],
    ['DRAM', 'device memory (HBM, GDDR)'],
    ['LOAD, STORE', 'movement between the two'],
    ['Multiplier', 'matrix unit (tensor core)'],
  ] as readonly (readonly [string, string])[],
};
