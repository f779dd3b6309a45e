import { Tensor } from '@tilewise/core';
import { fillNormal } from '@tilewise/philox';
import { streamOf } from '../random-streams.ts';
import type { ModelShape } from './model-shape.ts';

/** A trained tensor: how large it is and what it starts from. */
export interface ParameterSpec {
  readonly name: string;
  readonly shape: readonly number[];
  /** Of the normal distribution that it is drawn from. */
  readonly deviation: number;
}

/** Names of the parameters of layer n, as in files of weights. */
export function layerName(n: number, parameter: string): string {
  return `layers.${n}.${parameter}`;
}

/**
 * The parameters of a model, always in this order: matrices (in, out), which rows are multiplied by from the
 * left. Norms have none, as the matrices behind them would learn the same.
 */
export function parameterSpecs({ vocabulary, context, layers, dim }: ModelShape): ParameterSpec[] {
  const matrix = (name: string, rows: number, columns: number): ParameterSpec => ({
    name,
    shape: [rows, columns],
    deviation: 1 / Math.sqrt(rows),
  });
  const layer = (n: number): ParameterSpec[] => [
    matrix(layerName(n, 'attention.q'), dim, dim),
    matrix(layerName(n, 'attention.k'), dim, dim),
    matrix(layerName(n, 'attention.v'), dim, dim),
    matrix(layerName(n, 'attention.o'), dim, dim),
    matrix(layerName(n, 'mlp.up'), dim, 4 * dim),
    matrix(layerName(n, 'mlp.down'), 4 * dim, dim),
  ];
  return [
    { name: 'tokens', shape: [vocabulary, dim], deviation: 1 },
    { name: 'positions', shape: [context, dim], deviation: 0.1 },
    ...Array.from({ length: layers }, (_, n) => layer(n)).flat(),
    matrix('logits', dim, vocabulary),
  ];
}

/** What a parameter starts from; its name chooses the random stream, so that order does not matter. */
export function initialParameter({ name, shape, deviation }: ParameterSpec, seed: number | bigint): Tensor {
  const count = shape.reduce((n, extent) => n * extent, 1);
  const values = fillNormal(new Float32Array(count), {
    seed,
    subsequence: streamOf('parameter', hash(name)),
  });
  return Tensor.from(
    values.map(x => x * deviation),
    shape,
  );
}

/** The letters of the name as one number (FNV-1a). */
function hash(name: string): number {
  let sum = 0x811c9dc5;
  for (const letter of name) sum = Math.imul(sum ^ letter.charCodeAt(0), 0x01000193);
  return sum >>> 0;
}
