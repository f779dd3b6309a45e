import type { SdpaOptions, Tensor } from '@tilewise/core';
import { sdpa as exactSdpa } from '@tilewise/core/reference';
import { test } from 'vitest';
import { normal } from '../../../../../testing/attention/attention-call.ts';
import { expectAgreement } from '../../../../../testing/attention/expect-agreement.ts';
import { sharedContext } from '../../../../../testing/device/shared-context.ts';
import { createContext, sdpa } from '../../../../index.ts';
import { workgroupTile } from '../workgroup-kind.ts';

const { device, capabilities } = await sharedContext();
const { subgroupMinSize, subgroupMaxSize } = capabilities;
const tx = Math.min(subgroupMinSize, 8);

test.skipIf(tx < 2)(
  'rows are reduced in subgroups: rows with few keys, with none, and with garbage in hidden keys',
  async () => {
    const [Skv, D] = [70, 10];
    const [q, k, v] = [normal([3, 4, 45, D], 1), normal([3, 2, Skv, D], 2), normal([3, 2, Skv, D], 3)];
    const lengths = [61, 0, 9];
    const padding = [...k.offsets()].filter(
      (_, n) => Math.floor(n / D) % Skv >= lengths[Math.floor(n / D / Skv / 2)],
    );
    for (const at of padding) k.data[at] = v.data[at] = Number.NaN;
    const options: SdpaOptions<Tensor> = {
      ...{ causal: 'bottom-right', seqLensKv: lengths },
      outputs: { max: true, sumExp: true },
    };
    const ty = Math.max(4, subgroupMaxSize / tx);
    const tile = workgroupTile({ tx, ty, headDimChunk: 4, rowReduction: 'subgroup' });
    const ctx = await createContext({ device, tiles: () => ({ forward: tile }) });
    const results = sdpa(ctx, ctx.upload(q), ctx.upload(k), ctx.upload(v), options);
    const got: Record<string, Tensor> = {};
    for (const [name, tensor] of Object.entries(results)) got[name] = await ctx.download(tensor);
    expectAgreement(got, { ...exactSdpa(q, k, v, options) });
    ctx.destroy();
  },
);
