import { openGpu, rewriteShaders, withReversedLanes } from '@tilewise/webgpu-host';
import { describe, expect, test as vitestTest } from 'vitest';
import {
  type AttentionCall,
  exactResults,
  gpuResults,
  normal,
  type Results,
} from '../../../testing/attention/attention-call.ts';
import { expectAgreement } from '../../../testing/attention/expect-agreement.ts';
import { tilesOfMatrices, tilesOfSubgroups } from '../../../testing/attention/tile-kinds.ts';
import { createContext, type TileSelector } from '../../index.ts';

// SwiftShader runs the subgroups of a workgroup one after the other, from one barrier to the next. So a
// kernel that lacks a barrier gives wrong results, either in this order or in the reverse order.
const test = vitestTest.skipIf(!(await openGpu()).description.includes('SwiftShader'));

type Rewrite = (wgsl: string) => string;

const drawn = (Sq: number, Skv: number, options?: AttentionCall['options']): AttentionCall => ({
  ...{ q: normal([1, 1, Sq, 16], 1), k: normal([1, 1, Skv, 16], 2) },
  ...{ v: normal([1, 1, Skv, 16], 3), dO: normal([1, 1, Sq, 16], 4), options },
});

/** The results of kernels whose text is rewritten. */
async function resultsOf(call: AttentionCall, tiles: TileSelector, rewrite: Rewrite): Promise<Results> {
  const { adapter } = await openGpu();
  rewriteShaders(adapter, rewrite);
  const ctx = await createContext({ adapter, tiles });
  const results = await gpuResults(ctx, call, exactResults(call));
  ctx.destroy();
  return results;
}

async function expectRightResults(call: AttentionCall, tiles: TileSelector, rewrite: Rewrite): Promise<void> {
  expectAgreement(await resultsOf(call, tiles, rewrite), exactResults(call));
}

const matrix = { M: 16, N: 16, K: 16, component: 'f32' } as const;
const matrices = (heldRows: 16 | 32, flags: boolean): TileSelector =>
  tilesOfMatrices(matrix, 2, { plain: true, heldRows, flags });
const causal = drawn(70, 90, { causal: true });
const full = drawn(64, 320);
const dq = { gradients: ['dq'] } as const;

test.each<[string, TileSelector, AttentionCall]>([
  ['matrices of 16 rows', matrices(16, true), causal],
  ['matrices of 32 queries', matrices(32, true), drawn(70, 90, { ...dq, causal: true })],
  ['subgroups', tilesOfSubgroups(4), causal],
  ['every device', () => null, causal],
])('results are right in the reverse order, on tiles of %s', (_, tiles, call) =>
  expectRightResults(call, tiles, withReversedLanes),
);

// SwiftShader runs both branches of a condition, so the barriers of tiles that are not full would hide that a
// barrier of full tiles is missing.
describe.each([
  ['16 rows', matrices(16, false), full],
  ['32 queries', matrices(32, false), drawn(64, 320, dq)],
] as const)('full matrix tiles of %s, in kernels without the barriers of other tiles', (_, tiles, call) => {
  test('results are right in the order of lanes', () => expectRightResults(call, tiles, wgsl => wgsl));
  test('results are right in the reverse order', () => expectRightResults(call, tiles, withReversedLanes));
});

test.each([
  ['lanes that store weights, and products with the weights', /if \(full_tile\) \{\s+workgroupBarrier\(\);/],
  ['products, and lanes that read these as scores', /workgroupBarrier\(\);\s+let s0 = scratch/],
])('a missing barrier is found: between %s', async (_, text) => {
  const broken: Rewrite = wgsl => wgsl.replace(text, found => found.replace('workgroupBarrier();', ''));
  const orders: Rewrite[] = [broken, wgsl => withReversedLanes(broken(wgsl))];
  const results = await Promise.all(orders.map(order => resultsOf(full, matrices(16, false), order)));
  const exact = exactResults(full);
  for (const name of ['o', 'dq', 'dk', 'dv']) {
    const expectRight = (): void => {
      for (const one of results) expectAgreement({ [name]: one[name] }, { [name]: exact[name] });
    };
    expect(expectRight, name).toThrow();
  }
});
