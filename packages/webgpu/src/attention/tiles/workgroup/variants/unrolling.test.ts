import { expect, test } from 'vitest';
import {
  exactResults,
  gpuResults,
  normal,
  type Results,
} from '../../../../../testing/attention/attention-call.ts';
import { expectSameBits } from '../../../../../testing/attention/expect-agreement.ts';
import { sharedContext } from '../../../../../testing/device/shared-context.ts';
import { createContext } from '../../../../index.ts';
import { defaultSizes } from '../../tile-table.ts';
import { workgroupTile } from '../workgroup-kind.ts';
import type { WorkgroupTileSizes } from '../workgroup-tile.ts';

const [q, k, v, dO] = [1, 2, 3, 4].map(seed => normal([1, 2, 37, 36], seed));
// Padding that must not be multiplied, in the middle of the rows that are read together.
for (const tensor of [k, v]) tensor.data.fill(Number.NaN, 30 * 36, 37 * 36);
const call = { q, k, v, dO, options: { causal: true, seqLensKv: [30] } };

test.each<WorkgroupTileSizes>([defaultSizes, { tx: 4, ty: 4, headDimChunk: 3 }])(
  'unrolled tiles give the same bits as tiles with loops: %o',
  async tile => {
    const { device } = await sharedContext();
    const exact = exactResults(call);
    const results = async (unrolled: boolean): Promise<Results> => {
      const each = workgroupTile({ ...tile, unrolled });
      const ctx = await createContext({ device, tiles: () => ({ forward: each, dq: each, dkdv: each }) });
      const got = await gpuResults(ctx, call, exact);
      ctx.destroy();
      return got;
    };
    const unrolled = await results(true);
    const others = await results(false);

    expect(Object.keys(unrolled)).toEqual(['o', 'lse', 'dq', 'dk', 'dv']);
    expectSameBits(unrolled, others);
  },
);
