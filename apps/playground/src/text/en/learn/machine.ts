export const machine = {
  intro:
    'Memory is large and far away. Registers are near, but there are few of them. This machine has both, and a multiplier that reads its two operands from `R0` and `R1` only. Every instruction takes one cycle. The trick that makes programs fast here also makes them fast on a GPU: use a number again while it is near.',
  wiring: 'The multiplier reads',
  wirings: { fixed: 'R0 and R1', any: 'any register' },
  registers: 'Registers',
  noProgramForOne: 'Four loads, two products, one store: no program takes fewer cycles.',
  optimum: (registers: number): string =>
    `With ${registers} registers, no program for this machine takes fewer cycles.`,
  fewer: (registers: number, fewest: number): string =>
    `With ${registers} registers, ${fewest} cycles are enough.`,
  canItBeFewer: 'Can it be done in fewer cycles?',
  fewest: [
    'We know the smallest number of cycles for all four elements, because a search has tried every program. With more registers, more partial sums stay near, and each loaded number meets more of its partners before it is replaced.',
    'If any register may feed the multiplier, operands can wait in registers, too. Six registers are then enough to load each of the eight numbers only once: eight loads, eight products and four stores. No program can manage with fewer.',
  ],
  fewestCaption: 'Fewest cycles for the whole product',
  styles: 'Inner product versus outer product',
  innerProduct: 'Inner product',
  outerProduct: 'Outer product',
  cyclesInAll: 'Cycles for all of C',
  stylesWhy:
    'The inner product finishes one sum before it begins the next. The outer product keeps all sums open, so that every loaded number meets both of its partners. Chapter 4 has the same choice again, with tiles in place of numbers.',
};
