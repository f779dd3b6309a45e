import { openGpu } from '@tilewise/webgpu-host';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PuzzleGpu } from './gpu/puzzle-gpu.ts';
import { type Judgement, judge } from './judge.ts';
import { rivalOf, solutionOf, starterOf } from './puzzles/programs.ts';
import { type PuzzleId, puzzleIds, puzzleOf, puzzles } from './puzzles/puzzles.ts';

let gpu: PuzzleGpu;
beforeAll(async () => {
  gpu = new PuzzleGpu((await openGpu()).gpu, 60_000);
});
afterAll(() => gpu.close());

const judgementOf = (id: PuzzleId, program: string): Promise<Judgement> => judge(gpu, puzzleOf(id), program);

/** A solution with some text replaced; the text must be present. */
function changed(id: PuzzleId, from: string | RegExp, to: string): string {
  const before = solutionOf(id);
  const after = before.replace(from, to);
  if (after === before) throw new Error(`The solution of ${id} has no ${from}.`);
  return after;
}

describe.each(puzzleIds)('the puzzle %s', id => {
  it('accepts its solution on every hidden input, within its budget, and times it', async () => {
    const found = await judgementOf(id, solutionOf(id));
    expect(found).toMatchObject({ kind: 'right' });
    if (found.kind !== 'right') return;
    expect(found.largest.times).toBeLessThan(1);
    for (const { found: count, most } of found.reads) expect(count).toBe(most);
    expect(found.times?.own).toBeGreaterThan(0);
    expect(found.times?.best).toBeGreaterThan(0);
    expect(found.times?.rival === null).toBe(puzzleOf(id).rival === null);
  });

  it('does not accept its starter, which compiles', async () => {
    expect(await judgementOf(id, starterOf(id))).toMatchObject({ kind: 'wrong' });
  });
});

it.each(puzzles.filter(({ rival }) => rival?.kind === 'own'))(
  'the simple kernel that $id is compared with is right',
  async ({ id }) => {
    expect(await judgementOf(id, rivalOf(id))).toMatchObject({ kind: 'right' });
  },
);

const noMaximum = /m = max\(m, score\(i, j\)\);/;

describe('a characteristic wrong answer', () => {
  it.each([
    ['naive', 'no maximum', changed('naive', noMaximum, 'm = 0.0;'), { input: 'high' }],
    ['naive', 'the first score as maximum', changed('naive', noMaximum, ''), { input: 'rising' }],
    ['naive', 'no scale', changed('naive', ' * sizes.scale', ''), { slip: 'scale' }],
    ['naive', 'no division', changed('naive', ' / l', ''), { slip: 'normalise' }],
    ['naive', 'no bound', changed('naive', 'i >= sizes.n', 'false'), { wrong: { kind: 'outside' } }],
    ['row-softmax', 'a maximum that begins at 0', changed('row-softmax', '-3.0e38', '0.0'), { input: 'low' }],
    ['row-softmax', 'no barriers', changed('row-softmax', /workgroupBarrier\(\);/g, ''), { slip: 'barrier' }],
    [
      'streaming-softmax',
      'a sum that does not shrink',
      changed('streaming-softmax', 'a.y * exp(a.x - m) + b.y * exp(b.x - m)', 'a.y + b.y'),
      { kind: 'wrong' },
    ],
    [
      'tiled-forward',
      'an output that does not shrink',
      changed('tiled-forward', 'o_i[c] * factor', 'o_i[c]'),
      { slip: 'rescale' },
    ],
    [
      'tiled-forward',
      'sums that do not shrink',
      changed('tiled-forward', 'let factor = exp(m - m_new)', 'let factor = 1.0'),
      { slip: 'rescale' },
    ],
    [
      'tiled-forward',
      'keys beyond the end',
      changed('tiled-forward', 'min(TILE, sizes.n - first)', 'TILE'),
      { input: 'tail' },
    ],
    ['causal-skip', 'no mask', solutionOf('tiled-forward'), { slip: 'mask' }],
    ['dq', 'no delta', changed('dq', 'p * (dp - row.y)', 'p * dp'), { slip: 'delta' }],
    ['dkv', 'no delta', changed('dkv', 'p * (dp - stats_tile[i].y)', 'p * dp'), { slip: 'delta' }],
    ['dkv', 'no scale', changed('dkv', 'dk_j[c] * sizes.scale', 'dk_j[c]'), { slip: 'scale' }],
  ] as const)('of %s, %s, is told from others', async (id, _, program, found) => {
    expect(await judgementOf(id, program)).toMatchObject({ kind: 'wrong', ...found });
  });

  it.each([
    ['causal-skip', changed('causal-skip', '(group.x + 1u) * TILE', 'sizes.n'), 16, 10],
    ['streaming-softmax', solutionOf('row-softmax'), 3, 2],
    ['dq', rivalOf('dq'), 2 * 128 * 4, 16],
  ] as const)('of %s that is right but reads too much is told how much', async (id, program, count, most) => {
    const found = await judgementOf(id, program);
    expect(found).toMatchObject({ kind: 'right', times: null });
    if (found.kind === 'right') expect(found.reads[0]).toMatchObject({ found: count, most });
  });
});

describe('a program that does not compile', () => {
  it('is told the compiler’s error at its own line', async () => {
    const program = changed('delta', 'sum += dO[i * D + c]', 'sum += missing[i * D + c]');
    const line = program.split('\n').findIndex(text => text.includes('missing')) + 1;
    const found = await judgementOf('delta', program);
    expect(found).toMatchObject({ kind: 'failed', failure: { kind: 'compiler', errors: [{ line }] } });
    if (found.kind !== 'failed' || found.failure.kind !== 'compiler') return;
    const [error] = found.failure.errors;
    expect(error?.message).toContain('missing');
    expect(program.split('\n')[line - 1]?.slice((error?.column ?? 0) - 1)).toMatch(/^missing/);
  });

  it('is refused when it has no main', async () => {
    const found = await judgementOf('delta', changed('delta', 'fn main', 'fn other'));
    expect(found).toMatchObject({ kind: 'failed', failure: { kind: 'refused' } });
  });
});
