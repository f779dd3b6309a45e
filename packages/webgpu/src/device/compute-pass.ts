import { checkKind } from './check-kind.ts';

/** The methods of a compute pass that kernels use. */
export interface ComputePass {
  setPipeline(pipeline: GPUComputePipeline): void;
  setBindGroup(index: number, group: GPUBindGroup): void;
  dispatchWorkgroups(x: number, y?: number, z?: number): void;
  end(): void;
}

/** The methods of a trace that a context calls. */
export interface PassTrace {
  /** Prepares the trace for the device of the context. */
  attach(device: GPUDevice): void;
  /** A pass whose kernels are timed one by one. */
  beginPass(encoder: GPUCommandEncoder): ComputePass;
  /** Binds `work` to the names of the parts that are being recorded now, so that it can be called later. */
  bound<A>(work: (argument: A) => void): (argument: A) => void;
}

/** Begins a pass, traced if there is a trace. */
export function beginPass(encoder: GPUCommandEncoder, trace: PassTrace | undefined): ComputePass {
  return trace ? trace.beginPass(encoder) : encoder.beginComputePass();
}

/**
 * Records in the caller's pass, or in a pass of the caller's encoder.
 * @throws InvalidArgumentError for any other target.
 */
export function recordIn(
  target: object,
  trace: PassTrace | undefined,
  record: (pass: ComputePass) => void,
): void {
  checkTarget(target);
  if ('dispatchWorkgroups' in target) {
    record(target);
    return;
  }
  const pass = beginPass(target, trace);
  try {
    record(pass);
  } finally {
    pass.end();
  }
}

/** @throws InvalidArgumentError if the target is neither an encoder nor a pass. */
export function checkTarget(target: object): asserts target is GPUCommandEncoder | GPUComputePassEncoder {
  checkKind('target', target, 'a GPUCommandEncoder or GPUComputePassEncoder');
}
