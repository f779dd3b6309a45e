import { expect, test } from 'vitest';
import { Graph } from '../graph/graph.ts';
import type { SdpaArguments } from './arguments.ts';
import { sdpa, sdpaBackward } from './index.ts';

const g = new Graph();
const tensor = (shape: readonly number[], dtype: 'f32' | 'i32' | 'i64' | 'bool' | 'f16' = 'f32') =>
  g.tensor({ dtype, shape });
const q = tensor([2, 4, 8, 16]);
const k = tensor([2, 2, 8, 16]);
const v = tensor([2, 2, 8, 16]);
const lengths = tensor([2, 1, 1, 1], 'i32');
const seed = tensor([], 'i64');

/** What cuDNN refuses too (`conformance/cudnn/validation-rules.json`), and what the error names. */
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
  ['dropout', { dropout: 0.1 }, /one of the two/],
  ['dropout', { dropout: [0.1, tensor([1, 1, 8, 8], 'bool'), seed, seed] }, /one of the two/],
  ['dropout', { dropout: [1, seed, seed] }, /\[0, 1\), got 1/],
  ['dropout', { dropout: [0.1, 1, 2] }, /must have tensors/],
  ['diagonalBandLeftBound', { diagonalBandLeftBound: 0 }, /integer ≥ 1, got 0/],
  ['diagonalBandLeftBound', { diagonalBandLeftBound: 1.5 }, /integer ≥ 1, got 1.5/],
  ['diagonalBandRightBound', { diagonalBandRightBound: -1 }, /integer ≥ 0, got -1/],
  ['diagonalAlignment', { diagonalAlignment: 'TOP_LEFT' }, /top-left or bottom-right, got TOP_LEFT/],
  ['pagedAttentionKTable', { pagedAttentionKTable: tensor([2, 1, 1, 1], 'i32') }, /usePaddingMask/],
  ['pagedAttentionMaxSeqLenKv', { pagedAttentionMaxSeqLenKv: 8 }, /for page tables, got 8/],
  ['rngDump', { rngDump: true }, /dropout of \[p, seed, offset\]/],
  ['implementation', { implementation: 'fused' }, /auto, composite or unified, got fused/],
];

test.each(broken)('%s: %o is refused before anything is added', (argument, change, says) => {
  const call = () => sdpa(g, { q, k, v, ...change } as SdpaArguments);
  expect(call).toThrow(expect.objectContaining({ code: expect.stringMatching(/^INVALID_/), argument }));
  expect(call).toThrow(says);
  expect(g.nodes.length).toBe(0);
});

test('a gradient of what is not there', () => {
  const rest = { q, k, v, o: q, dO: q, stats: tensor([2, 4, 8, 1]) };
  expect(() => sdpaBackward(g, { ...rest, dBias: true })).toThrow('dBias needs a bias');
  expect(() => sdpaBackward(g, { ...rest, dSinkToken: true })).toThrow('dSinkToken needs a sinkToken');
});
