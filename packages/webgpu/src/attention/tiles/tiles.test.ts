import { normaliseBackward, type SdpaOptions, Tensor } from '@tilewise/core';
import { expect, test } from 'vitest';
import { exactResults, normal, type Results } from '../../../testing/attention/attention-call.ts';
import { expectAgreement } from '../../../testing/attention/expect-agreement.ts';
import { plainMatrixTile } from '../../../testing/attention/plain-matrix-tile.ts';
import { sharedContext } from '../../../testing/device/shared-context.ts';
import { asGiven, makePlan } from '../../api/plan/plan.ts';
import { allTools } from '../../api/tools/all-tools.ts';
import {
  type SubgroupTileShape,
  subgroupTile,
  type WorkgroupTileShape,
  workgroupTile,
} from '../../subpaths/tiles.ts';
import type { ForwardShape } from '../kernels/forward/forward-shape.ts';
import type { AttentionPlan } from '../plan/attention-plan.ts';
import { backwardPlan } from '../plan/backward-plan.ts';
import { forwardPlan } from '../plan/forward-plan.ts';
import type { MatrixTileShape } from './matrix/shape.ts';
import type { Tile } from './tile.ts';
import { type BackwardTiles, defaultSizes } from './tile-table.ts';

const [B, Hq, Hk, Sq, Skv, Dqk, Dv] = [2, 4, 2, 37, 83, 20, 12];
const [q, k, v, dO] = [
  normal([B, Hq, Sq, Dqk], 1),
  normal([B, Hk, Skv, Dqk], 2),
  normal([B, Hk, Skv, Dv], 3),
  normal([B, Hq, Sq, Dv], 4),
];
const options: SdpaOptions<Tensor> = {
  ...{ window: { left: 40, right: 3 }, causal: 'bottom-right', softcap: 5, sink: [1, -2, 0, 3] },
  ...{ seqLensKv: [83, 51], dropout: { p: 0.3, seed: 5n }, alibi: [0.1, 0.2, 0.05, 0] },
};
const exact = exactResults({ q, k, v, dO, options });
const { o, lse } = exact;
const { problem, operands } = normaliseBackward({ q, k, v, o, lse, dO }, options);
const { forward } = problem;

/** Runs kernels on the operands of the problem and returns some of the tensors that they write. */
async function run({ kernels, spans }: AttentionPlan, names: readonly string[]): Promise<Results> {
  const ctx = await sharedContext();
  const plan = makePlan(ctx, { kernels, spans }, forward, asGiven);
  const given = Object.entries(operands).flatMap(([name, t]) => (t instanceof Tensor ? [{ name, t }] : []));
  const tensors = Object.fromEntries(given.map(({ name, t }) => [name, ctx.upload(t)]));
  for (const name of names) tensors[name] = ctx.allocate(exact[name].shape, exact[name].dtype);
  if (plan.workspaceBytes > 0) tensors.workspace = ctx.allocate([plan.workspaceBytes / 4], 'f32');
  const encoder = ctx.device.createCommandEncoder();
  plan.encode(encoder, tensors);
  ctx.device.queue.submit([encoder.finish()]);
  const results: Record<string, Tensor> = {};
  for (const name of names) results[name] = await ctx.download(tensors[name]);
  for (const tensor of Object.values(tensors)) tensor.destroy();
  plan.destroy();
  return results;
}

const only = (names: readonly string[]): Results => Object.fromEntries(names.map(n => [n, exact[n]]));

type Sizes = WorkgroupTileShape;

test.each<Omit<ForwardShape, 'tile'> & { readonly sizes: Sizes }>([
  { sizes: defaultSizes, heads: 1, parts: 1 },
  { sizes: defaultSizes, heads: 2, parts: 5 },
  { sizes: { tx: 4, ty: 4, headDimChunk: 8 }, heads: 2, parts: 1 },
  { sizes: { tx: 32, ty: 1, headDimChunk: 3 }, heads: 1, parts: 2 },
  { sizes: { tx: 16, ty: 4, headDimChunk: 4 }, heads: 2, parts: 3 },
  { sizes: { tx: 2, ty: 8, headDimChunk: 1 }, heads: 1, parts: 64 },
  { sizes: { tx: 3, ty: 5, headDimChunk: 7 }, heads: 2, parts: 2 },
  { sizes: { tx: 4, ty: 2, headDimChunk: 4, rows: 8 }, heads: 2, parts: 1 },
  { sizes: { tx: 2, ty: 4, headDimChunk: 3, cols: 2 }, heads: 1, parts: 3 },
  { sizes: { tx: 3, ty: 2, headDimChunk: 8, rows: 8, cols: 2 }, heads: 1, parts: 1 },
])('forward gives the same results on any tiles: %o', async ({ sizes, ...shape }) => {
  const tile = workgroupTile(sizes);
  expect(tile.workgroupMemory('forward', forward)).toBeLessThanOrEqual(16384);
  await expectForward({ tile, ...shape });
});

async function expectForward(
  shape: ForwardShape,
  rewritten: (wgsl: string) => string = wgsl => wgsl,
): Promise<void> {
  const plan = forwardPlan(forward, { target: await sharedContext(), tools: allTools }, shape);
  const kernels = plan.kernels.map(kernel => ({ ...kernel, wgsl: rewritten(kernel.wgsl) }));
  const names = ['o', 'lse'];
  expectAgreement(await run({ ...plan, kernels }, names), only(names));
}

const halved: WorkgroupTileShape = {
  tx: 4,
  ty: 2,
  headDimChunk: 4,
  rows: 8,
  cols: 2,
  stagingDType: 'f16',
  arithmetic: 'f16',
};

/**
 * Replaces f16 with f32 in a text, because few software adapters support f16; the short sums are exact
 * enough.
 */
const inF32 = (wgsl: string): string => wgsl.replace('enable f16;', '').replaceAll('<f16>', '<f32>');

test('forward in f16 gives the same results', async () => {
  await expectForward({ tile: workgroupTile(halved), heads: 1, parts: 1 }, inF32);
  await expectForward(
    { tile: workgroupTile({ ...halved, rows: 4, prefetch: true }), heads: 2, parts: 3 },
    inF32,
  );
});

test('forward in f16 gives the same results if numbers are too large for f16', async () => {
  const small = (wgsl: string): string => inF32(wgsl).replace(/exceeds\(x, [0-9.]+\)/g, 'exceeds(x, 0.5)');
  expect(small('exceeds(x, 32.0)')).toBe('exceeds(x, 0.5)');
  await expectForward({ tile: workgroupTile(halved), heads: 1, parts: 1 }, small);
});

/** Numbers the lanes in an order unrelated to their subgroups, because WGSL does not relate the two. */
function renumbered(wgsl: string): string {
  const text = wgsl
    .replace('@builtin(local_invocation_index) lane:', '@builtin(local_invocation_index) index:')
    .replace(/@workgroup_size\((\d+)\)[^{]*\{/, '$&\n  let lane = (index * 5u + 3u) % $1u;');
  expect(text).toContain('let lane = (index');
  return text;
}

test('forward gives the same results with rows reduced in subgroups, whichever lanes form a subgroup', async () => {
  const { subgroupMinSize, subgroupMaxSize } = (await sharedContext()).capabilities;
  const tx = Math.min(subgroupMinSize, 8);
  if (tx < 2) return;
  const tile = (sizes: Partial<WorkgroupTileShape>): Tile =>
    workgroupTile({
      tx,
      ty: Math.max(4, subgroupMaxSize / tx),
      headDimChunk: 4,
      ...sizes,
      rowReduction: 'subgroup',
    });
  await expectForward({ tile: tile({}), heads: 2, parts: 3 });
  await expectForward({ tile: tile({ rows: 8, cols: 2, prefetch: true }), heads: 1, parts: 1 }, renumbered);
});

test('both passes give the same results in subgroups of the size that the kernels ask for', async () => {
  const { features, subgroupMinSize: subgroupSize } = (await sharedContext()).capabilities;
  if (!features.includes('subgroup-size-control')) return;
  const tile = workgroupTile({ tx: 8, ty: 8, headDimChunk: 4, subgroupSize });
  const plan = forwardPlan(
    forward,
    { target: await sharedContext(), tools: allTools },
    { tile, heads: 1, parts: 1 },
  );
  expect(plan.kernels[0].wgsl).toContain(`@subgroup_size(${subgroupSize})`);
  await expectForward({ tile, heads: 2, parts: 3 });
  await expectBackward({ dq: tile, dkdv: tile });
});

test.each<Sizes>([
  { tx: 8, ty: 8, headDimChunk: 3 },
  { tx: 4, ty: 4, headDimChunk: 8 },
  { tx: 2, ty: 2, headDimChunk: 16 },
  { tx: 10, ty: 10, headDimChunk: 4 },
])('backward gives the same results on any square tiles: %o', async sizes => {
  const tile = workgroupTile(sizes);
  await expectBackward({ dq: tile, dkdv: tile });
});

test.each<{ readonly dq: Sizes; readonly dkdv: Sizes }>([
  {
    dq: { tx: 2, ty: 3, headDimChunk: 4, rows: 8 },
    dkdv: { tx: 2, ty: 2, headDimChunk: 8, rows: 8, cols: 2 },
  },
  {
    dq: { tx: 3, ty: 2, headDimChunk: 4, rows: 8, cols: 2 },
    dkdv: { tx: 2, ty: 4, headDimChunk: 3, cols: 2 },
  },
])('so it does with more scores per lane: %o', async ({ dq, dkdv }) => {
  await expectBackward({ dq: workgroupTile(dq), dkdv: workgroupTile(dkdv) });
});

async function expectBackward(tiles: BackwardTiles): Promise<void> {
  const plan = backwardPlan(problem, { target: await sharedContext(), tools: allTools }, tiles);
  const names = problem.gradients;
  expectAgreement(await run(plan, names), only(names), { distance: 90 });
}

/** Tiles for subgroups of at least `group` lanes. */
const inSubgroups = (group: 4 | 8): Omit<SubgroupTileShape, 'kind' | 'stationary'>[] =>
  [8, 32].map(lanes => ({ lanes, group }));

test.each([...inSubgroups(4), ...inSubgroups(8)])(
  'both give the same results on subgroup tiles: %o',
  async shape => {
    const { capabilities } = await sharedContext();
    if (capabilities.subgroupMinSize < shape.group) return;
    const tile = subgroupTile({ stationary: 'queries', ...shape });
    await expectForward({ tile, heads: 1, parts: 1 });
    await expectForward({ tile, heads: 2, parts: 3 });
    await expectBackward({ dq: tile, dkdv: subgroupTile({ stationary: 'keys', ...shape }) });
  },
);

/**
 * Matrix operations are written out, because no software adapter has matrices. Such kernels compile for
 * seconds, and how heads share a workgroup does not depend on the matrix: each has one of the two.
 */
test.each<Pick<MatrixTileShape, 'subgroups' | 'matrix'> & Pick<ForwardShape, 'heads' | 'parts'>>([
  { subgroups: 2, matrix: { M: 16, N: 16, K: 16, component: 'f32' }, heads: 1, parts: 1 },
  { subgroups: 2, matrix: { M: 8, N: 16, K: 16, component: 'f32' }, heads: 2, parts: 3 },
])('both give the same results on matrix tiles: %o', async ({ heads, parts, ...shape }) => {
  const tile = plainMatrixTile({ stationary: 'queries', ...shape });
  await expectForward({ tile, heads, parts });
  await expectBackward({ dq: tile, dkdv: plainMatrixTile({ stationary: 'keys', ...shape }) });
});
