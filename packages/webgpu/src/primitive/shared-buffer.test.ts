import { Tensor } from '@tilewise/core';
import { add, mul, sub } from '@tilewise/core/expr';
import { hostPrimitives, input } from '@tilewise/core/primitive';
import { expect, test } from 'vitest';
import { sharedContext } from '../../testing/device/shared-context.ts';
import { filled, numbers } from '../../testing/primitive/primitive-run.ts';
import { createContext, webgpuEngine } from '../index.ts';

const double = { kind: 'map', value: mul(input(0), 2) } as const;
const part = { shape: [64], strides: [1] };

test('a tensor may be written in the buffer of one that is read, 256 bytes apart', async () => {
  const ctx = await sharedContext();
  const { primitives } = webgpuEngine(ctx);
  const both = ctx.upload(
    Tensor.from(
      Array.from({ length: 128 }, (_, n) => n),
      [128],
    ),
  );
  const [from, to] = [0, 64].map(offset => primitives.view(both, { ...part, offset }));
  const prepared = primitives.prepare(double, [from], [to]);
  prepared.run([from], [to]);
  const result = (await ctx.download(both)).toFloat32();
  expect([...result.slice(0, 64)]).toEqual(Array.from({ length: 64 }, (_, n) => n));
  expect([...result.slice(64)]).toEqual(Array.from({ length: 64 }, (_, n) => 2 * n));
  const near = primitives.view(both, { ...part, offset: 4 });
  expect(() => prepared.run([from], [near])).toThrow('must not share bytes');
  prepared.release();
});

test.each([
  ['vectors', [4, 32]],
  ['rows that are not vectors', [5, 7]],
])('a map of %s overwrites its input in place', async (_, shape) => {
  const ctx = await sharedContext();
  const { primitives } = webgpuEngine(ctx);
  const [host, row] = [numbers(shape, 1), numbers(shape.slice(1), 2)];
  const [x, other] = [host, row].map(t => ctx.upload(t));
  const map = { kind: 'map', value: add(mul(input(0), 3), mul(input(1), input(0))) } as const;
  const prepared = primitives.prepare(map, [x, other], [x]);
  prepared.run([x, other], [x]);
  const found = (await ctx.download(x)).toFloat32();
  hostPrimitives.prepare(map, [host, row], [host]).run([host, row], [host]);
  for (const [n, wanted] of host.toFloat32().entries()) expect(found[n]).toBeCloseTo(wanted, 5);
  prepared.release();
});

test.each([30, 32])('%i elements are overwritten among more tensors than a device binds', async count => {
  const { device, capabilities } = await sharedContext();
  const limits = { ...capabilities, maxStorageBuffersPerShaderStage: 8 };
  const ctx = Object.assign(await createContext({ device }), { capabilities: limits });
  const { primitives } = webgpuEngine(ctx);
  const hosts = Array.from({ length: 9 }, (_, n) => numbers([count], n));
  const value = hosts.map((_, n) => mul(input(n), n + 1)).reduce(add);
  for (const primitive of [
    { kind: 'map', value },
    { kind: 'rows', domain: [count], axes: [], reductions: [], outputs: [value] },
  ] as const) {
    const tensors = hosts.map(t => ctx.upload(t));
    const prepared = primitives.prepare(primitive, tensors, [tensors[8]]);
    const workspace = ctx.allocate([prepared.workspaceBytes / 4], 'u32');
    prepared.run(tensors, [tensors[8]], workspace);
    const found = (await ctx.download(tensors[8])).toFloat32();
    const wanted = filled([count]);
    hostPrimitives.prepare(primitive, hosts, [wanted]).run(hosts, [wanted]);
    wanted.toFloat32().forEach((x, n) => {
      expect(found[n]).toBeCloseTo(x, 4);
    });
    prepared.release();
  }
  ctx.destroy();
});

test('maps of one domain overwrite several inputs after all maps have read them', async () => {
  const ctx = await sharedContext();
  const { primitives } = webgpuEngine(ctx);
  const hosts = [1, 2].map(seed => numbers([300], seed));
  const [x, y] = hosts.map(t => t.toFloat32());
  const tensors = hosts.map(t => ctx.upload(t));
  const outputs = [add(mul(input(0), 0.5), input(1)), sub(input(0), input(1))];
  const rows = { kind: 'rows', domain: [300], axes: [], reductions: [], outputs } as const;
  const prepared = primitives.prepare(rows, tensors, tensors);
  prepared.run(tensors, tensors);
  hostPrimitives.prepare(rows, hosts, hosts).run(hosts, hosts);
  for (const found of [hosts, await Promise.all(tensors.map(t => ctx.download(t)))]) {
    const [sums, differences] = found.map(t => t.toFloat32());
    x.forEach((value, n) => {
      expect(sums[n]).toBeCloseTo(0.5 * value + y[n], 5);
      expect(differences[n]).toBeCloseTo(value - y[n], 5);
    });
  }
  prepared.release();
});
