import { type DType, type SdpaOptions, Tensor } from '@tilewise/core';
import {
  add,
  constant,
  eq,
  load,
  type Mod,
  maskMod,
  type NumericExpr,
  type ScoreModVariables,
  scoreMod,
  select,
} from '@tilewise/core/expr';
import type { PhiloxStream } from '@tilewise/philox';
import type { PointDims } from '../point.ts';
import { normalTensor } from './torch.ts';

/** Computes a score from the score and its indices. */
export type Score = (variables: ScoreModVariables) => NumericExpr | number;

const hidden = constant(-Infinity, 'f32');
/** The score if a condition holds; otherwise the pair is hidden. */
export const where = (condition: Parameters<typeof select>[0], score: NumericExpr): NumericExpr =>
  select(condition, score, hidden);

/** The options of a point, with random tensors. */
export type MakeOptions = (stream: PhiloxStream, shape: PointDims, dtype: DType) => SdpaOptions<Tensor>;

/** Pairs see each other only within a document; each document has 32 positions. */
export const sameDocument = (S: number): Mod<Tensor> => {
  const ids = Array.from({ length: S }, (_, i) => Math.floor(i / 32));
  const at = (i: NumericExpr) => load('documents', [i], 'i32');
  return maskMod<Tensor>(({ q, kv }) => eq(at(q), at(kv)), {
    documents: Tensor.from(ids, [S], { dtype: 'i32' }),
  });
};

/** Adds a random tensor to a score, read at some of the indices of the pair. */
export const added =
  (
    shapeOf: (shape: PointDims) => readonly number[],
    index: (variables: ScoreModVariables, shape: PointDims) => NumericExpr[],
  ): MakeOptions =>
  (stream, shape, dtype) => ({
    scoreMod: scoreMod<Tensor>(variables => add(variables.score, load('bias', index(variables, shape))), {
      bias: normalTensor(stream, shapeOf(shape), dtype),
    }),
  });

/** A score mod without tensors. */
export const score =
  (build: Score): MakeOptions =>
  () => ({ scoreMod: scoreMod(build) });
