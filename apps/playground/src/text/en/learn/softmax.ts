export const softmax = {
  intro:
    'Softmax turns scores into weights that sum to one. In 32-bit floats, $e^x$ overflows once $x$ is larger than about 88.7. So we subtract the maximum first. But to know the maximum, we must first read everything…',
  loop: '`FOR i = 1 TO n-1` … `END` repeats the lines in between. The loop itself costs no cycles, so the counts show how the work grows with n.',
  numbers: 'Numbers (n)',
  shift: 'Added to every number',
  verdict: (n: number, reads: number, writes: number): string =>
    `For n = ${n}: ${reads} ${reads === 1 ? 'read' : 'reads'} and ${writes} ${writes === 1 ? 'write' : 'writes'} of DRAM.`,
  paths: 'Two paths to the same sum',
  pathsWhy: [
    'The second column knows the maximum of all numbers in advance. The last column knows only the maximum so far, and corrects its sum whenever the maximum rises. The two sums differ on the way and agree at the end.',
  ],
  factor: 'Correction factor',
  factors: { difference: 'exp(m − m′)', quotient: 'exp(m) / exp(m′)' },
  meet: (global: string, running: string): string => `Both end in the same sum: ${global} and ${running}.`,
  overflowed: 'exp(m) is more than a 32-bit float can hold, and ∞ / ∞ is not a number.',
  overflowWhy:
    "The factor $e^{m-m'}$ is at most 1. On paper, $e^{m} / e^{m'}$ is the same number, but a 32-bit float cannot hold $e^{100}$. Switch the factor, add 100 to every number, and watch.",
  showOverflow: 'Show it overflow on the machine',
  showOverflowEarly: 'Show it overflow on the machine (with a program for Problem 5)',
  counts: 'What one register saves',
  countsWhy:
    'We counted these by running both programs. The online program computes more for each number, but reads each number one time fewer. It wins because memory is the slow part.',
  countsChart: (reads: readonly number[]): string =>
    `DRAM reads against n: ${reads.join(' for safe softmax, ')} for online softmax`,
  passes: 'Passes over x',
  reads: 'DRAM reads',
  writes: 'DRAM writes',
  operations: 'Operations',
  welford: 'Welford\u2019s algorithm',
  nothingNew: 'Nothing new under the sun?',
  nothingNewAnswer: [
    'A running state is corrected whenever its reference moves. The idea comes from statistics, the care about overflow from numerical analysis, the single pass from algorithms, and the reason to bother from computer architecture. Each field has a piece, and few courses put the pieces together.',
  ],
};
