export const softmax = {
  intro:
    'Softmax turns scores into weights that sum to one. $e^x$ overflows from $x \\approx 88.7$ on in 32-bit floats, so the maximum is subtracted first. But the maximum is known only when everything has been read …',
  loop: '`FOR i = 1 TO n-1` … `END` repeats the lines between; it costs nothing and shows how a program grows with n.',
  numbers: 'Numbers (n)',
  shift: 'Added to every number',
  verdict: (n: number, reads: number, writes: number): string =>
    `For n = ${n}: ${reads} ${reads === 1 ? 'read' : 'reads'} and ${writes} ${writes === 1 ? 'write' : 'writes'} of DRAM.`,
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
  showOverflowEarly: 'Show it overflow on the machine (with a program for Problem 5)',
  counts: 'What one register saves',
  countsWhy:
    'Counted by running both programs. The online one computes more for each number and reads one time less: memory is what is slow.',
  countsChart: (reads: readonly number[]): string =>
    `DRAM reads against n: ${reads.join(' for safe softmax, ')} for online softmax`,
  passes: 'Passes over x',
  reads: 'DRAM reads',
  writes: 'DRAM writes',
  operations: 'Operations',
  welford: 'Welford\u2019s algorithm',
  nothingNew: 'Nothing new under the sun?',
  nothingNewAnswer: [
    'A running state that is corrected when its reference moves: the idea comes from statistics, the care about overflow from numerical analysis, the single pass from algorithms, and the reason to bother from computer architecture. Each field has a piece of it, and few courses put the pieces together.',
  ],
};
