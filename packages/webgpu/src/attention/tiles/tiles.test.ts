import { normaliseBackward, type SdpaOptions, Tensor } from '@tilewise/core';
import { expect, test } from 'vitest';
import { exactResults, normal, type Results } from '../../../testing/attention-call.ts';
import { expectAgreement } from '../../../testing/expect-agreement.ts';
import { plainMatrices } from '../../../testing/plain-matrices.ts';
import { sharedContext } from '../../../testing/shared-context.ts';
import { makePlan } from '../../api/plan.ts';
import { noTools } from '../../api/tools.ts';
import type { KernelSpec } from '../../index.ts';
import type { ForwardShape } from '../kernels/forward/forward-shape.ts';
import { backwardKernels, forwardKernels } from '../plan/kernels.ts';
import { backwardTensorSpans, forwardTensorSpans } from '../plan/spans.ts';
import { matrixTile } from './matrix/matrix-tile.ts';
import type { MatrixTileShape } from './matrix/memory.ts';
import type { PlainTile, SubgroupTile, WorkgroupTile, WorkgroupTileShape } from './tile.ts';
import { type BackwardTiles, defaultTile } from './tile-table.ts';
import { workgroupTileMemory } from './workgroup/memory.ts';
import { workgroupTile } from './workgroup/workgroup-tile.ts';

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

/** Runs kernels on the operands of the problem and gives some of the tensors that they write. */
async function run(
  kernels: readonly KernelSpec[],
  spans: Readonly<Record<string, number>>,
  names: readonly string[],
): Promise<Results> {
  const ctx = await sharedContext();
  const plan = makePlan(ctx, { kernels, spans }, forward);
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

test.each<ForwardShape & { readonly tile: WorkgroupTile }>([
  { tile: defaultTile, heads: 1, parts: 1 },
  { tile: defaultTile, heads: 2, parts: 5 },
  { tile: { tx: 4, ty: 4, depth: 8 }, heads: 2, parts: 1 },
  { tile: { tx: 32, ty: 1, depth: 4 }, heads: 1, parts: 2 },
  { tile: { tx: 16, ty: 4, depth: 6 }, heads: 2, parts: 3 },
  { tile: { tx: 2, ty: 8, depth: 1 }, heads: 1, parts: 64 },
  { tile: { tx: 3, ty: 5, depth: 7 }, heads: 2, parts: 2 },
  { tile: { tx: 4, ty: 2, depth: 4, rows: 8 }, heads: 2, parts: 1 },
  { tile: { tx: 2, ty: 4, depth: 3, cols: 2 }, heads: 1, parts: 3 },
  { tile: { tx: 3, ty: 2, depth: 8, rows: 8, cols: 2 }, heads: 1, parts: 1 },
])('forward is the same on any tiles: %o', async shape => {
  expect(workgroupTileMemory(shape.tile)).toBeLessThanOrEqual(16384);
  await expectForward(shape);
});

async function expectForward(
  shape: ForwardShape,
  rewritten: (wgsl: string) => string = wgsl => wgsl,
): Promise<void> {
  const kernels = forwardKernels(forward, await sharedContext(), new Set(), noTools, shape).map(kernel => ({
    ...kernel,
    wgsl: rewritten(kernel.wgsl),
  }));
  const names = ['o', 'lse'];
  expectAgreement(await run(kernels, forwardTensorSpans(forward, shape), names), only(names));
}

const halved: WorkgroupTileShape = {
  tx: 4,
  ty: 2,
  depth: 4,
  rows: 8,
  cols: 2,
  pool: 'f16',
  arithmetic: 'f16',
};

/** As a text, since few software adapters have f16: with f32 in its place, short sums are exact enough. */
const inF32 = (wgsl: string): string => wgsl.replace('enable f16;', '').replaceAll('<f16>', '<f32>');

test('forward in f16 adds the same up', async () => {
  await expectForward({ tile: workgroupTile(halved), heads: 1, parts: 1 }, inF32);
  await expectForward(
    { tile: workgroupTile({ ...halved, rows: 4, prefetch: true }), heads: 2, parts: 3 },
    inF32,
  );
});

test('so it does where numbers are too large for f16', async () => {
  const small = (wgsl: string): string => inF32(wgsl).replace(/exceeds\(x, [0-9.]+\)/g, 'exceeds(x, 0.5)');
  expect(small('exceeds(x, 32.0)')).toBe('exceeds(x, 0.5)');
  await expectForward({ tile: workgroupTile(halved), heads: 1, parts: 1 }, small);
});

/** Lanes with other numbers than their subgroups give them places, as nothing says that the two have to do with each other. */
function renumbered(wgsl: string): string {
  const text = wgsl
    .replace('@builtin(local_invocation_index) lane:', '@builtin(local_invocation_index) index:')
    .replace(/@workgroup_size\((\d+)\)[^{]*\{/, '$&\n  let lane = (index * 5u + 3u) % $1u;');
  expect(text).toContain('let lane = (index');
  return text;
}

test('forward is the same with subgroup statistics, whichever lanes are a subgroup', async () => {
  const { subgroupMinSize, subgroupMaxSize } = (await sharedContext()).capabilities;
  const tx = Math.min(subgroupMinSize, 8);
  if (tx < 2) return;
  const tile = (sizes: Partial<WorkgroupTileShape>): WorkgroupTile =>
    workgroupTile({ tx, ty: Math.max(4, subgroupMaxSize / tx), depth: 4, ...sizes, statistics: 'subgroup' });
  await expectForward({ tile: tile({}), heads: 2, parts: 3 });
  await expectForward({ tile: tile({ rows: 8, cols: 2, prefetch: true }), heads: 1, parts: 1 }, renumbered);
});

test.each<PlainTile>([
  { tx: 8, ty: 8, depth: 3 },
  { tx: 4, ty: 4, depth: 8 },
  { tx: 2, ty: 2, depth: 16 },
  { tx: 10, ty: 10, depth: 4 },
])('backward is the same on any square tiles: %o', async tile => {
  await expectBackward({ dq: tile, dkdv: tile, others: tile });
});

test.each<Pick<BackwardTiles, 'dq' | 'dkdv'>>([
  { dq: { tx: 2, ty: 3, depth: 4, rows: 8 }, dkdv: { tx: 2, ty: 2, depth: 8, rows: 8, cols: 2 } },
  { dq: { tx: 3, ty: 2, depth: 4, rows: 8, cols: 2 }, dkdv: { tx: 2, ty: 4, depth: 3, cols: 2 } },
])('so it is with more scores per lane: %o', async tiles => {
  await expectBackward({ ...tiles, others: defaultTile });
});

async function expectBackward(tiles: BackwardTiles): Promise<void> {
  const ctx = await sharedContext();
  const layouts = { dq: forward.q, dk: forward.k, dv: forward.v };
  const kernels = backwardKernels(problem, layouts, ctx, new Set(), noTools, tiles);
  const names = problem.gradients;
  expectAgreement(
    await run(kernels, backwardTensorSpans(problem, layouts, tiles.others), names),
    only(names),
    {
      distance: 90,
    },
  );
}

/** Tiles that take subgroups of at least so many lanes. */
const inSubgroups = (group: 4 | 8): SubgroupTile[] =>
  [8, 32].map(lanes => ({ through: 'subgroup', own: 'queries', lanes, group }));

test.each<SubgroupTile>([...inSubgroups(4), ...inSubgroups(8)])(
  'both are the same on tiles of a subgroup: %o',
  async tile => {
    const { capabilities } = await sharedContext();
    if (capabilities.subgroupMinSize < tile.group) return;
    await expectForward({ tile, heads: 1, parts: 1 });
    await expectForward({ tile, heads: 2, parts: 3 });
    const dkdv: SubgroupTile = { ...tile, own: 'keys' };
    await expectBackward({ dq: tile, dkdv, others: defaultTile });
  },
);

/** Written out, as no software adapter has matrices. */
test.each<Pick<MatrixTileShape, 'subgroups' | 'matrix'>>([
  { subgroups: 2, matrix: { M: 16, N: 16, K: 16, component: 'f32' } },
  { subgroups: 2, matrix: { M: 8, N: 16, K: 16, component: 'f32' } },
])('both are the same on tiles of matrices: %o', async shape => {
  const spelling = plainMatrices(shape.matrix, shape.subgroups);
  const tile = matrixTile({ own: 'queries', spelling, ...shape });
  const dkdv = matrixTile({ own: 'keys', spelling, ...shape });
  await expectForward({ tile, heads: 1, parts: 1 });
  await expectForward({ tile, heads: 2, parts: 3 });
  await expectBackward({ dq: tile, dkdv, others: defaultTile });
});
