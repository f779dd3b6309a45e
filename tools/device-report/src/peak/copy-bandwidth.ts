import type { GpuContext } from '@tilewise/webgpu';
import type { GpuClock } from '@tilewise/webgpu/tune';
import { timePasses } from '../timing/rounds.ts';
import { bindingOf } from './binding.ts';

const copyWgsl = `@group(0) @binding(0) var<storage, read> source: array<vec4f>;
@group(0) @binding(1) var<storage, read_write> destination: array<vec4f>;
@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
  for (var n = id.x; n < arrayLength(&source); n += groups.x * 256u) {
    destination[n] = source[n];
  }
}
`;

/**
 * GB/s of a copy of the given number of bytes, or of as many as a buffer can hold; bytes read and bytes
 * written both count.
 */
export async function copyBandwidth(ctx: GpuContext, clock: GpuClock, copiedBytes: number): Promise<number> {
  const { device } = ctx;
  const { maxStorageBufferBindingSize, maxBufferSize } = device.limits;
  const bytes = Math.min(copiedBytes, maxStorageBufferBindingSize, maxBufferSize);
  const tensors = [0, 1].map(() => ctx.allocate([Math.floor(bytes / 16), 4], 'f32'));
  const module = device.createShaderModule({ code: copyWgsl });
  const pipeline = await device.createComputePipelineAsync({ layout: 'auto', compute: { module } });
  const bindGroup = device.createBindGroup({
    layout: pipeline.getBindGroupLayout(0),
    entries: tensors.map((tensor, binding) => ({ binding, resource: bindingOf(tensor) })),
  });
  const encode = (pass: GPUComputePassEncoder): void => {
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, bindGroup);
    pass.dispatchWorkgroups(8192);
  };
  const [{ median }] = await timePasses(clock, [encode]);
  for (const tensor of tensors) tensor.destroy();
  return (2 * bytes) / median / 1e6;
}
