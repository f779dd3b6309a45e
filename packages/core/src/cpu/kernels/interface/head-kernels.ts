/**
 * Passes over problems in which the scores of each head are one tile. `numbers` is the address of the numbers
 * of a pass (`attention/small-heads/numbers.ts`); `thread` selects the scratch memory. Heads are numbered
 * b·H + h.
 */
export type HeadKernels = Readonly<Record<HeadPass, RunHeads>>;

export type HeadPass = 'forwardHeads' | 'backwardHeads';

type RunHeads = (numbers: number, thread: number, first: number, count: number) => void;
