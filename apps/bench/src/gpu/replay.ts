import { watchPasses } from '@tilewise/webgpu-host';

/** A dispatch with what was set for it. */
interface Recorded {
  readonly pipeline: GPUComputePipeline;
  readonly group: GPUBindGroup;
  readonly size: readonly [number, number?, number?];
}

/**
 * Runs some work once, and returns a function that submits its dispatches again by bare WebGPU calls, within
 * the error scopes that each submission of the library has.
 */
export async function replayOf(device: GPUDevice, run: () => Promise<unknown>): Promise<() => void> {
  const recorded: Recorded[] = [];
  const end = watchPasses(device, pass => record(pass, recorded));
  try {
    await run();
  } finally {
    end();
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

/** Records the dispatches of a pass. */
function record(pass: GPUComputePassEncoder, recorded: Recorded[]): void {
  const setPipeline = pass.setPipeline.bind(pass);
  const setBindGroup = pass.setBindGroup.bind(pass);
  const dispatchWorkgroups = pass.dispatchWorkgroups.bind(pass);
  let pipeline: GPUComputePipeline;
  let group: GPUBindGroup;
  Object.defineProperties(pass, {
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
