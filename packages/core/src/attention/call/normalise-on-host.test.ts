import { expect, test } from 'vitest';
import { goodCall } from '../../../testing/broken-calls/call.ts';
import { load } from '../../expr/build.ts';
import { maskMod, scoreMod } from '../../expr/mods/mod.ts';
import { Tensor } from '../../tensor/tensor.ts';
import { normaliseBackwardOnHost, normaliseOnHost } from './normalise-on-host.ts';

/** A tensor on a device; the host knows only its description. */
const onDevice = { dtype: 'f32', shape: [1], strides: [1], buffer: {} } as unknown as Tensor;
const refusal = (name: string): string =>
  `InvalidArgumentError: ${name} must be a Tensor on this host: download it first`;
const outcome = (call: () => unknown): string => {
  try {
    call();
    return 'accepted';
  } catch (error) {
    return String(error);
  }
};

test.each([...Object.keys(goodCall), 'dLse'])('%s must be here', name => {
  expect(outcome(() => normaliseBackwardOnHost({ ...goodCall, [name]: onDevice }))).toBe(refusal(name));
});

const capturing = { table: onDevice };
test.each<[string, object]>([
  ...(['mask', 'bias', 'alibi', 'blockMask', 'sink', 'seqLensQ', 'seqLensKv'] as const).map(
    (name): [string, object] => [name, { [name]: onDevice }],
  ),
  ...(['cuSeqLensQ', 'cuSeqLensKv', 'pageTableK', 'pageTableV', 'cuPagesK', 'cuPagesV'] as const).map(
    (name): [string, object] => [name, { [name]: onDevice }],
  ),
  ['raggedOffsets.o', { raggedOffsets: { q: [0, 4], o: onDevice } }],
  ['dropout.mask', { dropout: { mask: onDevice } }],
  ['fp8.scaleS', { fp8: { scaleS: onDevice } }],
  ['mxfp8.descaleQ', { mxfp8: { descaleQ: onDevice } }],
  ['scoreMod.captures.table', { scoreMod: scoreMod(() => load('table', [0]), capturing) }],
  ['maskMod.captures.table', { maskMod: maskMod(() => load('table', [0], 'bool'), capturing) }],
])('so must %s among the options', (name, options) => {
  expect(outcome(() => normaliseOnHost(goodCall, options))).toBe(refusal(name));
});

test('tensors of this host and lists of numbers are accepted', () => {
  const { operands } = normaliseBackwardOnHost(goodCall, {
    seqLensKv: [1, 2],
    sink: Tensor.from([0, 1], [2]),
  });
  expect(operands.seqLensKv?.toFloat32()).toEqual(Float32Array.of(1, 2));
});

test('a captured tensor may have any name, and may come from another copy of this package', () => {
  const table = Tensor.from([1, 2], [2]);
  const { dtype, shape, strides, offset, data } = table;
  const methods = { toFloat64: () => table.toFloat64() };
  const ofOther: Tensor = Object.assign(Object.create(methods), { dtype, shape, strides, offset, data });
  const mod = scoreMod(() => load('shape', [0]), { shape: ofOther });
  const { captures } = normaliseOnHost(
    { q: goodCall.q, k: goodCall.k, v: goodCall.v },
    { scoreMod: mod },
  ).operands;
  // Workers get only tensors of this copy.
  expect(captures?.shape).toBeInstanceOf(Tensor);
  expect(captures?.shape?.data).toBe(data);
});
