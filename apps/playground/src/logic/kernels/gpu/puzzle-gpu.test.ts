import { openGpu } from '@tilewise/webgpu-host';
import { expect, it } from 'vitest';
import type { Failure } from './failure.ts';
import { PuzzleGpu } from './puzzle-gpu.ts';

/** The failure with which the work rejects. */
const failureOf = (work: Promise<unknown>): Promise<Failure> =>
  work.then(
    () => expect.unreachable('the work ended'),
    error => error.failure,
  );

const forever = new Promise<never>(() => {});

it('gives up work that takes too long, destroys its device, and opens another for the next work', async () => {
  const gpu = new PuzzleGpu((await openGpu()).gpu, 200);
  const devices: GPUDevice[] = [];
  const failure = await failureOf(
    gpu.run(device => {
      devices.push(device);
      return forever;
    }),
  );
  expect(failure).toEqual({ kind: 'hung', seconds: 0.2 });
  expect((await devices[0]?.lost)?.reason).toBe('destroyed');
  expect(await gpu.run(async device => device !== devices[0])).toBe(true);
  gpu.close();
});

it('ends work whose device is lost, and opens another for the next work', async () => {
  const gpu = new PuzzleGpu((await openGpu()).gpu, 60_000);
  const failure = await failureOf(
    gpu.run(device => {
      device.destroy();
      return forever;
    }),
  );
  expect(failure.kind).toBe('lost');
  expect(await gpu.run(async device => device.limits.maxBindGroups)).toBeGreaterThan(0);
  gpu.close();
});

it('keeps its device from one run to the next', async () => {
  const gpu = new PuzzleGpu((await openGpu()).gpu, 60_000);
  const first = await gpu.run(async device => device);
  expect(await gpu.run(async device => device)).toBe(first);
  gpu.close();
});

it('says that there is no WebGPU, or no adapter', async () => {
  expect(await failureOf(new PuzzleGpu(undefined).run(() => forever))).toEqual({ kind: 'no-webgpu' });
  const none = { requestAdapter: async () => null } as unknown as GPU;
  expect(await failureOf(new PuzzleGpu(none).run(() => forever))).toEqual({
    kind: 'no-adapter',
    message: '',
  });
});

it('says that no device comes while the GPU is busy, and asks again for the next work', async () => {
  let asked = 0;
  const busy = {
    requestAdapter: () => {
      asked++;
      return forever;
    },
  } as unknown as GPU;
  const gpu = new PuzzleGpu(busy, 50);
  expect(await failureOf(gpu.run(() => forever))).toEqual({ kind: 'busy' });
  expect(await failureOf(gpu.run(() => forever))).toEqual({ kind: 'busy' });
  expect(asked).toBe(2);
});
