import { Tensor } from '@tilewise/core';
import { PhiloxStream } from '@tilewise/philox';
import { fuzzRun } from '@tilewise/test-data/random-problem';
import { expect, test } from 'vitest';
import { CheckpointError, encodeSafetensors, readSafetensors } from './index.ts';

const tensors = new Map([
  ['layers.0.weight', Tensor.from([1, 2, 3, 4, 5, 6], [2, 3])],
  ['layers.0.bias', Tensor.from([0.5, 0.25, 0.125], [3], { dtype: 'f16' })],
  ['ids', Tensor.from([7, 8], [2], { dtype: 'i32' })],
]);
const file = encodeSafetensors(tensors, { format: 'pt' });
const headerBytes = Number(new DataView(file.buffer).getBigUint64(0, true));

const { seed, count, timeout } = fuzzRun(500);

/** A copy in which a few bytes of the length or the header are changed, removed, doubled or cut off. */
function mutated(number: number): Uint8Array {
  const stream = new PhiloxStream(seed, { subsequence: BigInt(number) });
  const draw = (below: number): number => stream.nextU32() % below;
  let bytes = [...file];
  for (let n = 0; n <= draw(3); n++) {
    const at = draw(8 + headerBytes);
    const text = '0123456789-{}[]",:eF32I64'.charCodeAt(draw(25));
    const change = [
      () => bytes.splice(at, 1, draw(256)),
      () => bytes.splice(at, 1, text),
      () => bytes.splice(at, draw(4)),
      () => bytes.splice(at, 0, text),
      () => bytes.splice(draw(bytes.length + 1)),
    ][draw(5)];
    change();
    bytes = [...bytes];
  }
  return Uint8Array.from(bytes);
}

test(`${count} changed headers of seed ${seed} give a typed error, or tensors of the stated size`, {
  timeout,
}, async () => {
  let refused = 0;
  for (let number = 0; number < count; number++) {
    const bytes = mutated(number);
    try {
      for await (const [, { shape, data }] of readSafetensors(bytes)) {
        expect(data.length).toBe(shape.reduce((n, extent) => n * extent, 1));
        expect(data.byteLength).toBeLessThanOrEqual(file.length);
      }
    } catch (error) {
      expect(error, `mutation ${number}`).toBeInstanceOf(CheckpointError);
      refused++;
    }
  }
  // The rest changes a name, the metadata, or a dtype to one of the same size.
  expect(refused).toBeGreaterThan(0.6 * count);
});
