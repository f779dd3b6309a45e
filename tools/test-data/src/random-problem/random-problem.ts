import type { StridedData } from './data/strided-data.ts';
import type { Choice, Draft, OperandName } from './draft.ts';
import { makeOperands } from './operands/operands.ts';
import { randomOptions } from './options/index.ts';
import { createRandom } from './random/random.ts';

/** One attention problem with its data, all of which follow from the seed and the number. */
export interface RandomProblem {
  readonly seed: number;
  /** The index of the problem among those of the seed. */
  readonly number: number;
  readonly choice: Choice;
  readonly tensors: Readonly<Record<OperandName, StridedData>>;
  /** The further inputs of backward: dLse. */
  readonly backwardInputs: Readonly<Record<string, StridedData>>;
  /** Whether there is a backward call. */
  readonly backward: boolean;
  /** The options of `sdpa` and `sdpaBackward`, with tensors as plain data. */
  readonly options: Readonly<Record<string, unknown>>;
}

/** The problem of a choice; equal seeds and numbers give equal data. */
export function makeProblem(choice: Choice, seed: number, number: number): RandomProblem {
  const structure = randomOptions.filter(({ kind }) => kind === 'structure').map(({ name }) => choice[name]);
  const draft: Draft = {
    choice,
    random: createRandom(seed, number),
    structureRandom: createRandom(seed, JSON.stringify(structure)),
    B: 1,
    Hq: 1,
    Hk: 1,
    Hv: 1,
    Sq: 1,
    Skv: 1,
    Dqk: 1,
    Dv: 1,
    dtype: { q: 'f32', k: 'f32', v: 'f32', dO: 'f32' },
    lengthsQ: [],
    lengthsKv: [],
    spansQ: null,
    spansKv: null,
    starts: { q: 'dense', k: 'dense', v: 'dense', dO: 'dense' },
    tokensQ: 0,
    tokensKv: 0,
    pageSize: { k: null, v: null },
    packedPages: false,
    garbage: 0,
    backward: true,
    backwardInputs: {},
    options: {},
  };
  for (const option of randomOptions) option.size(draft);
  const tensors = makeOperands(draft);
  for (const option of randomOptions) option.add(draft);
  const { backward, backwardInputs, options } = draft;
  return { seed, number, choice, tensors, backward, backwardInputs, options };
}

/** A description of the problem in one line, without default values. */
export function describeProblem({ seed, number, choice, tensors }: RandomProblem): string {
  const chosen = randomOptions
    .filter(({ name, values }) => choice[name] !== values[0])
    .map(({ name }) => `${name} ${JSON.stringify(choice[name])}`);
  const shapes = Object.entries(tensors).map(([name, { shape }]) => `${name} [${shape}]`);
  return `problem ${number} of seed ${seed}: ${[...shapes, ...chosen].join(', ')}`;
}
