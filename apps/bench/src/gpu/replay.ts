/** A dispatch with what was set for it. */
interface Recorded {
  readonly pipeline: GPUComputePipeline;
  readonly group: GPUBindGroup;
  readonly size: readonly [number, number?, number?];
}

/**
 * Runs some work once, and returns a function that submits its dispatches again by bare WebGPU calls, between
 * the error scopes with which the work was submitted.
 */
export async function replayOf(device: GPUDevice, run: () => Promise<unknown>): Promise<() => void> {
  const recorded: Recorded[] = [];
  const createCommandEncoder = device.createCommandEncoder.bind(device);
  const watched = (encoder: GPUCommandEncoder): GPUCommandEncoder => {
    const begin = encoder.beginComputePass.bind(encoder);
    const value = (descriptor?: GPUComputePassDescriptor): GPUComputePassEncoder =>
      watchedPass(begin(descriptor), recorded);
    return Object.defineProperty(encoder, 'beginComputePass', { value });
  };
  const value = (descriptor?: GPUCommandEncoderDescriptor): GPUCommandEncoder =>
    watched(createCommandEncoder(descriptor));
  Object.defineProperty(device, 'createCommandEncoder', { value, configurable: true });
  try {
    await run();
  } finally {
    Reflect.deleteProperty(device, 'createCommandEncoder');
  }
  return () => {
    device.pushErrorScope('out-of-memory');
    device.pushErrorScope('validation');
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    for (const { pipeline, group, size } of recorded) {
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, group);
      pass.dispatchWorkgroups(...size);
    }
    pass.end();
    device.queue.submit([encoder.finish()]);
    device.popErrorScope();
    device.popErrorScope();
  };
}

function watchedPass(pass: GPUComputePassEncoder, recorded: Recorded[]): GPUComputePassEncoder {
  const setPipeline = pass.setPipeline.bind(pass);
  const setBindGroup = pass.setBindGroup.bind(pass);
  const dispatchWorkgroups = pass.dispatchWorkgroups.bind(pass);
  let pipeline: GPUComputePipeline;
  let group: GPUBindGroup;
  return Object.defineProperties(pass, {
    setPipeline: {
      value(given: GPUComputePipeline): void {
        pipeline = given;
        setPipeline(given);
      },
    },
    setBindGroup: {
      value(index: number, given: GPUBindGroup): void {
        group = given;
        setBindGroup(index, given);
      },
    },
    dispatchWorkgroups: {
      value(...size: [number, number?, number?]): void {
        recorded.push({ pipeline, group, size });
        dispatchWorkgroups(...size);
      },
    },
  });
}
