import { describe, expect, test } from 'vitest';
import { cpuEngine } from './cpu/index.ts';
import * as expr from './expr/index.ts';
import {
  asBhsd,
  copyTensor,
  cumulativeLengths,
  dequantiseMxfp8,
  fromBhsd,
  fromPages,
  lengthsFromCumulative,
  mergePartials,
  pack,
  packedSequence,
  quantiseMxfp8,
  splitKv,
  splitQkv,
  standardSlopes,
  Tensor,
  toPages,
  unpack,
  writeSafetensors,
} from './index.ts';
import { referenceEngine } from './reference/index.ts';

/** Passes a value that the types forbid, as JavaScript can. */
const any = (value: unknown): never => value as never;
const t = Tensor.zeros([1, 1, 32, 32]);
const onDevice = { dtype: 'f32', shape: [1, 1, 2, 2], strides: [4, 4, 2, 1], buffer: {} };

describe('an argument of another kind is refused by name', () => {
  test.each<[call: string, run: (given: never) => unknown, argument: string]>([
    ['asBhsd', given => asBhsd(given, 'bshd'), 't'],
    ['fromBhsd', given => fromBhsd(given, 'bshd'), 't'],
    ['splitQkv', given => splitQkv(given, 'bs3hd'), 'qkv'],
    ['splitKv', given => splitKv(given, 'bs2hd'), 'kv'],
    ['pack', given => pack(given, [1]), 'dense'],
    ['unpack', given => unpack(given, [0, 1]), 'packed'],
    ['packedSequence', given => packedSequence(given, [0, 1], 0), 't'],
    ['toPages', given => toPages(given, 2), 'dense'],
    ['writeSafetensors', given => [...writeSafetensors(new Map([['x', given]]))], 'tensors.x'],
    ['fromPages', given => fromPages({ container: given, table: t }), 'container'],
    ['copyTensor from', given => copyTensor(given, t), 'from'],
    ['copyTensor to', given => copyTensor(t, given), 'to'],
    ['quantiseMxfp8', given => quantiseMxfp8(given), 't'],
    ['dequantiseMxfp8', given => dequantiseMxfp8({ values: t, scales: given }), 'tensor.scales'],
    ...[cpuEngine(), referenceEngine()].flatMap(
      engine =>
        [
          [`upload of ${engine.name}`, given => engine.upload(given), 'tensor'],
          [`release of ${engine.name}`, given => engine.release(given), 'tensor'],
        ] as [string, (given: never) => unknown, string][],
    ),
  ])('%s of a value that is not a tensor on this host', (_, run, argument) => {
    for (const given of [undefined, null, 3, [1], onDevice]) {
      expect(() => run(any(given))).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', argument }));
    }
  });

  test.each<[call: string, run: () => unknown, message: string]>([
    ['a layout', () => asBhsd(t, any('bsdh')), 'layout must be one of bhsd, bshd, sbhd, got "bsdh"'],
    ['no layout', () => fromBhsd(t, any(undefined)), 'layout must be one of bhsd, bshd, sbhd, got undefined'],
    ['a layout of q, k and v', () => splitQkv(t, any('bs2hd')), 'layout must be one of bs3hd'],
    ['a layout of k and v', () => splitKv(t, any(3)), 'layout must be one of bs2hd'],
    ['lengths', () => cumulativeLengths(any(3)), 'lengths must be numbers or a Tensor of rank 1, got 3'],
    [
      'bytes as lengths',
      () => cumulativeLengths(any(new DataView(new ArrayBuffer(8)))),
      'lengths must be numbers or a Tensor of rank 1, got DataView',
    ],
    [
      'half a list',
      () => cumulativeLengths(any({ data: new Int32Array(2) })),
      'lengths must be a tensor, got Object',
    ],
    ['blocks', () => toPages(t, 2, any(3)), 'blockOf must be a function, got 3'],
    ['no parts', () => mergePartials(new Array(2)), 'parts[0] must be an object of o and lse, got undefined'],
    [
      'no metadata',
      () => [...writeSafetensors(new Map(), any(null))],
      'metadata must be an object, got null',
    ],
    ['starts', () => lengthsFromCumulative(any(null)), 'cumulative must be numbers or a Tensor of rank 1'],
    ['pages', () => fromPages(any(undefined)), 'paged must be an object, got undefined'],
    ['heads', () => standardSlopes(any('8')), 'Hq must be a number of heads, got "8"'],
    ['options', () => quantiseMxfp8(t, any(null)), 'options must be an object, got null'],
    [
      'an axis',
      () => quantiseMxfp8(t, any({ along: 'keys' })),
      'along must be one of channels, positions, got "keys"',
    ],
    [
      'a layout of scales',
      () => dequantiseMxfp8(quantiseMxfp8(t), any({ layout: 'columns' })),
      'layout must be one of rows, F8_128x4',
    ],
    [
      'a format',
      () => quantiseMxfp8(t, any({ dtype: 'f16' })),
      'dtype must be one of f8e4m3, f8e5m2, got "f16"',
    ],
    [
      'an unknown option',
      () => quantiseMxfp8(t, any({ axis: 'positions' })),
      'axis is not an option; the options are',
    ],
    [
      'an unknown option of scales',
      () => dequantiseMxfp8(quantiseMxfp8(t), any({ dtype: 'f8e5m2' })),
      'dtype is not an option; the options are along, layout',
    ],
    ['no MXFP8 tensor', () => dequantiseMxfp8(any(t.shape)), 'tensor must be an object, got Array'],
    ['no problem', () => cpuEngine().checkSupport(any({})), 'problem must be a forward problem, as'],
    [
      'no problem to prepare',
      () => cpuEngine().prepareAttention?.(any(null)),
      'problem must be a forward problem, as',
    ],
    ['no work', () => referenceEngine().batch(any(undefined)), 'work must be a function, got undefined'],
  ])('%s', (_, run, message) => {
    expect(run).toThrow(message);
    expect(run).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }));
  });

  test.each<[call: string, run: (given: never) => unknown]>([
    ['add', given => expr.add(given, 1)],
    ['eq', given => expr.eq(1, given)],
    ['neg', given => expr.neg(given)],
    ['and', given => expr.and(given)],
    ['select', given => expr.select(true, 1, given)],
    ['load', given => expr.load('slopes', [given])],
    ['constant', given => expr.constant(given)],
  ])('an operand of %s that is not an expression', (_, run) => {
    for (const given of [undefined, null, 'x', {}, [], () => 1]) {
      expect(() => run(any(given))).toThrow(/(takes expressions|must be a number or a boolean).*, got/);
    }
  });

  test.each<[call: string, run: (given: never) => unknown, argument: string]>([
    ['scoreMod', given => expr.scoreMod(given), 'build'],
    ['maskMod', given => expr.maskMod(given), 'build'],
    ['modOf', given => expr.modOf(given), 'expr'],
    ['load', given => expr.load('slopes', given), 'load'],
    ['alibiMod', given => expr.alibiMod(given), 'slopes'],
    ['relativeBiasMod', given => expr.relativeBiasMod(given), 'table'],
    ['prefixLmMask', given => expr.prefixLmMask<Tensor>(given), 'length'],
    ['documentMask', given => expr.documentMask(given), 'ids'],
    ['slidingWindowMask', given => expr.slidingWindowMask(given), 'window'],
    ['andMasks', given => expr.andMasks(given), 'masks[0]'],
    ['orMasks', given => expr.orMasks(expr.causalMask(), given), 'masks[1]'],
    ['createBlockMask', given => expr.createBlockMask(expr.causalMask(), given), 'options'],
    ['createBlockMask of', given => expr.createBlockMask(given, { Sq: 1, Skv: 1 }), 'maskMod'],
    ['blockMaskBits', given => expr.blockMaskBits(given), 'blocks'],
    ['checkMod', given => expr.checkMod('mod', given, 'bool'), 'mod'],
  ])('what %s is made of', (_, run, argument) => {
    for (const given of [undefined, null, 'x', true]) {
      expect(() => run(any(given))).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT', argument }));
    }
  });

  test('a download of a value that is not a tensor rejects', async () => {
    await expect(referenceEngine().download(any(onDevice))).rejects.toThrow(
      'tensor must be a Tensor on this host',
    );
  });
});
