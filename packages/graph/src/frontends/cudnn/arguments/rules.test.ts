import { cpuEngine } from '@tilewise/core/cpu';
import { describe, expect, test } from 'vitest';
import { Graph } from '../../../graph.ts';
import {
  cudnnOptions,
  d256Window,
  sdpa,
  sdpaBackward,
  sdpaBackwardD256,
  sdpaFp8,
  sdpaFp8Backward,
} from '../index.ts';
import type { SdpaArguments } from './arguments.ts';

const g = new Graph();
const tensor = (shape: readonly number[], dtype: 'f32' | 'i32' | 'i64' | 'bool' | 'f16' = 'f32') =>
  g.tensor({ dtype, shape });
const q = tensor([2, 4, 8, 16]);
const k = tensor([2, 2, 8, 16]);
const v = tensor([2, 2, 8, 16]);
const lengths = tensor([2, 1, 1, 1], 'i32');
const seed = tensor([], 'i64');

/** Calls that cuDNN refuses too (`conformance/cudnn/validation-rules.json`), and the text of the error. */
const broken: readonly (readonly [argument: string, change: object, says: RegExp])[] = [
  ['k', { k: tensor([2, 3, 8, 16]) }, /divides the 4 of q, got 3/],
  ['v', { v: tensor([2, 3, 8, 16]) }, /divides the 4 of q, got 3/],
  ['q', { q: tensor([4, 8, 16]) }, /must be \(B, H, S, D\).*\[4, 8, 16\]/],
  ['attnScale', { attnScale: 'one' }, /finite number.*one/],
  ['attnScale', { attnScale: NaN }, /finite number.*NaN/],
  ['attnScale', { attnScale: tensor([2]) }, /one number/],
  ['bias', { bias: tensor([1, 4, 8, 8], 'bool') }, /bool/],
  ['seqLenQ', { usePaddingMask: true, seqLenKv: lengths }, /must be given with usePaddingMask/],
  ['seqLenKv', { usePaddingMask: true, seqLenQ: lengths }, /must be given with usePaddingMask/],
  ['seqLenQ', { seqLenQ: lengths }, /for usePaddingMask/],
  [
    'cuSeqLenQ',
    { usePaddingMask: true, seqLenQ: lengths, cuSeqLenQ: lengths, seqLenKv: lengths },
    /cannot be combined with seqLenQ/,
  ],
  ['raggedOffsets', { raggedOffsets: { q: lengths } }, /usePaddingMask/],
  ['dropout', { dropout: 0.1 }, /must be either/],
  ['dropout', { dropout: [0.1, tensor([1, 1, 8, 8], 'bool'), seed, seed] }, /must be either/],
  ['dropout', { dropout: [1, seed, seed] }, /\[0, 1\), got 1/],
  ['dropout', { dropout: [0.1, 1, 2] }, /must have tensors/],
  ['diagonalBandLeftBound', { diagonalBandLeftBound: 0 }, /integer ≥ 1, got 0/],
  ['diagonalBandLeftBound', { diagonalBandLeftBound: 1.5 }, /integer ≥ 1, got 1.5/],
  ['diagonalBandRightBound', { diagonalBandRightBound: -1 }, /integer ≥ 0, got -1/],
  ['diagonalAlignment', { diagonalAlignment: 'TOP_LEFT' }, /top-left or bottom-right, got TOP_LEFT/],
  ['pagedAttentionKTable', { pagedAttentionKTable: tensor([2, 1, 1, 1], 'i32') }, /usePaddingMask/],
  ['pagedAttentionMaxSeqLenKv', { pagedAttentionMaxSeqLenKv: 8 }, /needs a page table, got 8/],
  ['rngDump', { rngDump: true }, /dropout of \[p, seed, offset\]/],
  ['implementation', { implementation: 'fused' }, /auto, composite or unified, got fused/],
];

test.each(broken)('%s: %o is refused before anything is added', (argument, change, says) => {
  const call = () => sdpa(g, { q, k, v, ...change } as SdpaArguments);
  expect(call).toThrow(expect.objectContaining({ code: expect.stringMatching(/^INVALID_/), argument }));
  expect(call).toThrow(says);
  expect(g.nodes.length).toBe(0);
});

test('a gradient of a missing argument', () => {
  const rest = { q, k, v, o: q, dO: q, stats: tensor([2, 4, 8, 1]) };
  expect(() => sdpaBackward(g, { ...rest, dBias: true })).toThrow('dBias needs a bias');
  expect(() => sdpaBackward(g, { ...rest, dSinkToken: true })).toThrow('dSinkToken needs a sinkToken');
});

describe('a node with an invalid graph, invalid arguments or an invalid tensor is refused by name', () => {
  const none = undefined as never;
  const forward = { q, k, v };
  const nodes = { sdpa, sdpaBackward, sdpaFp8, sdpaFp8Backward } as Readonly<
    Record<string, (graph: Graph, args: never) => unknown>
  >;

  test.each(Object.entries(nodes))('%s', (name, add) => {
    const refused = (argument: string) => expect.objectContaining({ code: 'INVALID_ARGUMENT', argument });
    expect(() => add(none, forward as never)).toThrow(refused('graph'));
    expect(() => add(g, none)).toThrow(refused('args'));
    for (const argument of ['q', 'k', 'v'])
      expect(() => add(g, { ...forward, [argument]: null } as never)).toThrow(refused(argument));
    if (name.endsWith('Backward')) expect(() => add(g, forward as never)).toThrow(refused('o'));
  });

  test('the calls beside them', async () => {
    expect(() => cudnnOptions(none)).toThrow('args must be an object, got undefined');
    expect(() => d256Window(none)).toThrow('options must be an object, got undefined');
    const engine = cpuEngine({ threads: 1 });
    await expect(sdpaBackwardD256(engine, none)).rejects.toThrow('tensors must be an object, got undefined');
    await expect(sdpaBackwardD256(engine, { q, k } as never)).rejects.toThrow(
      'v must be a tensor, got undefined',
    );
  });
});

test.each(['unified', 'composite'] as const)(
  'a score program that gives no tensor of floats is refused: %s',
  implementation => {
    const attend = (result: unknown) => () =>
      sdpa(g, { q, k, v, scoreMod: () => result as never, implementation });
    const mask = tensor([1, 1, 8, 8], 'bool');
    expect(attend(mask)).toThrow(`input 'src' (tensor ${mask.id}) must be f32, bf16, f16, got bool`);
    expect(attend(undefined)).toThrow('its inputs must be an array of tensors, got undefined');
  },
);
