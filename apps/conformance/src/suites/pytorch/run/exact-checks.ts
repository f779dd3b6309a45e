import type { Engine, SdpaOptions, Tensor, TensorDesc } from '@tilewise/core';
import type { TensorError } from '../../attention/worst-error.ts';
import type { Point } from '../point.ts';
import type { Drawn } from './draw.ts';
import { type Results, runOnEngine } from './run-on-engine.ts';

/** Checks that rows without a visible key are exactly 0, in o and in dq. */
export function* fullyMaskedRows(lse: Float64Array, actual: Results): Generator<TensorError> {
  for (const name of ['o', 'dq']) {
    const values = actual[name]?.toFloat64();
    if (!values || lse.length === 0) continue;
    const D = values.length / lse.length;
    const wrong = values.findIndex((x, i) => lse[Math.floor(i / D)] === -Infinity && x !== 0);
    if (wrong >= 0) {
      yield { tensor: name, ratio: Infinity, text: `holds ${values[wrong]} in a row that sees no key` };
    }
  }
}

/** Checks that the first sequence gives the same bits alone as in a batch. */
export async function firstAlone<T extends TensorDesc>(
  engine: Engine<T>,
  point: Point,
  { q, k, v, dO, options }: Drawn,
  inBatch: Results,
): Promise<TensorError[]> {
  const first = (t: Tensor): Tensor => t.slice(0, 0, 1).contiguous();
  const length = (lengths: SdpaOptions<Tensor>['seqLensQ']): number[] =>
    Array.isArray(lengths) ? lengths.slice(0, 1) : [];
  const own = { ...options, seqLensQ: length(options.seqLensQ), seqLensKv: length(options.seqLensKv) };
  const sequence = { q: first(q), k: first(k), v: first(v), dO: first(dO), options: own };
  const alone = await runOnEngine(engine, { ...point, repeat: false }, sequence, sequence.dO);
  return [...differences({ o: first(inBatch.o) }, alone.first)];
}

/** Checks that two runs give the same bits. */
export function* differences(first: Results, second: Results): Generator<TensorError> {
  for (const [name, { data }] of Object.entries(first)) {
    const bytes = (d: ArrayBufferView) => new Uint8Array(d.buffer, d.byteOffset, d.byteLength);
    if (Buffer.compare(bytes(data), bytes(second[name].data)) !== 0) {
      yield { tensor: name, ratio: Infinity, text: 'differs between two runs' };
    }
  }
}
