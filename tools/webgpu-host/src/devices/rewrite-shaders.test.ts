import { afterEach, expect, test, vi } from 'vitest';
import { openGpu } from '../open-gpu.ts';
import { rewriteShaders, withReversedLanes } from './rewrite-shaders.ts';

afterEach(() => vi.unstubAllEnvs());

const kernel = (parameter: string, first = ''): string => `@compute @workgroup_size(64)
fn main(
  @builtin(workgroup_id) group: vec3u,
  @builtin(local_invocation_index) ${parameter}: u32,
) {${first}
  if (lane == 0u) { return; }
}`;

test('an entry point gets the number of its lane counted from the last one', () => {
  expect(withReversedLanes(kernel('lane'))).toBe(
    kernel('lane_in_order', '\n  let lane = 63u - lane_in_order;'),
  );
  expect(withReversedLanes('fn lane() -> u32 { return 0u; }')).toBe('fn lane() -> u32 { return 0u; }');
});

test('the devices of an adapter compile the rewritten text', async () => {
  vi.stubEnv('TILEWISE_LANES', '');
  const { adapter } = await openGpu({ backend: 'null' });
  rewriteShaders(adapter, withReversedLanes);
  rewriteShaders(adapter, wgsl => wgsl.replace('lane == 0u', 'lane == unknown'));
  const device = await adapter.requestDevice();
  device.pushErrorScope('validation');
  const { messages } = await device.createShaderModule({ code: kernel('lane') }).getCompilationInfo();
  await device.popErrorScope();
  expect(messages.map(({ message }) => message)).toEqual([expect.stringContaining("'unknown'")]);
});

test('kernels have reversed lanes if a variable asks for them', async () => {
  vi.stubEnv('TILEWISE_LANES', 'reversed');
  const { adapter } = await openGpu({ backend: 'null' });
  const device = await adapter.requestDevice();
  const code = kernel('lane').replace('lane == 0u', 'lane_in_order == 0u');
  const { messages } = await device.createShaderModule({ code }).getCompilationInfo();
  expect(messages).toEqual([]);
  vi.stubEnv('TILEWISE_LANES', 'reverse');
  await expect(openGpu({ backend: 'null' })).rejects.toThrow('TILEWISE_LANES is "reverse"');
});
