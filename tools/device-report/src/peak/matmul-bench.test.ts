import { createContext } from '@tilewise/webgpu';
import { openGpu } from '@tilewise/webgpu-host';
import { expect, test } from 'vitest';
import { MatmulBench } from './matmul-bench.ts';
import { tiledMatmul } from './tiled-matmul.ts';

test('a kernel that writes the product is right, and a kernel that writes nothing is wrong, whichever ran before', async () => {
  const { adapter } = await openGpu();
  const ctx = await createContext({ adapter });
  const bench = new MatmulBench(ctx, 64);
  const product = tiledMatmul(64, 'f32', { tx: 8, ty: 8, rows: 1, columns: 1, depth: 16 }, false);
  const idle = `@group(0) @binding(0) var<storage, read> A: array<f32>;
@group(0) @binding(1) var<storage, read> B: array<f32>;
@group(0) @binding(2) var<storage, read_write> C: array<f32>;
@compute @workgroup_size(1)
fn main() {
  if (A[0] > 1e30) {
    C[0] = B[0];
  }
}`;
  for (const [wgsl, isRight] of [
    [product.wgsl, true],
    [idle, false],
  ] as const) {
    const ready = await bench.ready({ ...product, wgsl });
    expect(await ready?.isRight(), wgsl).toBe(isRight);
  }
  bench.destroy();
  ctx.destroy();
});
