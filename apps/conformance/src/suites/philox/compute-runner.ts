// The values of GPUBufferUsage (and GPUMapMode.READ, which is the same bit), which are global only on hosts
// that define them.
const usage = { MAP_READ: 1, COPY_SRC: 4, COPY_DST: 8, UNIFORM: 0x40, STORAGE: 0x80 } as const;

/** A compute shader with a destination (storage) at binding 0 and parameters (uniform) at binding 1. */
export interface Computation {
  readonly code: string;
  readonly workgroups: number;
  readonly params: Uint32Array;
  readonly resultWords: number;
}

/** Runs small computations on a device, one at a time. */
export interface ComputeRunner {
  /** @throws Error with the message of the device's validation error. */
  run(computation: Computation): Promise<Uint32Array>;
  close(): void;
}

/** A runner on its own device; a shader that was compiled before is not compiled again. */
export async function createComputeRunner(adapter: GPUAdapter): Promise<ComputeRunner> {
  const device = await adapter.requestDevice();
  const pipelines = new Map<string, GPUComputePipeline>();

  function pipelineOf(code: string): GPUComputePipeline {
    const known = pipelines.get(code);
    if (known) return known;
    const module = device.createShaderModule({ code });
    const pipeline = device.createComputePipeline({
      layout: 'auto',
      compute: { module, entryPoint: 'main' },
    });
    pipelines.set(code, pipeline);
    return pipeline;
  }

  function bufferOf(bytes: number, flags: number): GPUBuffer {
    return device.createBuffer({ size: Math.ceil(Math.max(bytes, 4) / 16) * 16, usage: flags });
  }

  async function run({ code, workgroups, params, resultWords }: Computation): Promise<Uint32Array> {
    device.pushErrorScope('validation');
    const pipeline = pipelineOf(code);
    const bytes = 4 * resultWords;
    const destination = bufferOf(bytes, usage.STORAGE | usage.COPY_SRC);
    const uniforms = bufferOf(params.byteLength, usage.UNIFORM | usage.COPY_DST);
    const readback = bufferOf(bytes, usage.MAP_READ | usage.COPY_DST);
    device.queue.writeBuffer(uniforms, 0, params.slice());
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    pass.setPipeline(pipeline);
    const entries = [destination, uniforms].map((buffer, binding) => ({ binding, resource: { buffer } }));
    pass.setBindGroup(0, device.createBindGroup({ layout: pipeline.getBindGroupLayout(0), entries }));
    pass.dispatchWorkgroups(workgroups);
    pass.end();
    encoder.copyBufferToBuffer(destination, 0, readback, 0, destination.size);
    device.queue.submit([encoder.finish()]);
    const error = await device.popErrorScope();
    if (error) throw new Error(error.message);
    await readback.mapAsync(usage.MAP_READ);
    const result = new Uint32Array(readback.getMappedRange().slice(0, bytes));
    for (const buffer of [destination, uniforms, readback]) buffer.destroy();
    return result;
  }

  return { run, close: () => device.destroy() };
}
