export const machine = {
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
};
