import { TilewiseError } from '@tilewise/core';

/** Compares the name of the class: if the caller brings the device, the classes may not be globals. */
const isOutOfMemory = (error: GPUError): boolean => error.constructor.name === 'GPUOutOfMemoryError';

/** Converts a GPU error to a TilewiseError. */
function faultOf(error: GPUError): TilewiseError {
  const outOfMemory = isOutOfMemory(error);
  return new TilewiseError(
    outOfMemory ? 'OUT_OF_MEMORY' : 'INVALID_ARGUMENT',
    outOfMemory
      ? `the GPU is out of memory: ${error.message}`
      : `the GPU rejected the work (is a buffer destroyed, or of another device?): ${error.message}`,
    { cause: error },
  );
}

/** A buffer whose allocation failed is invalid wherever it is used, so the cause comes first. */
function faultOfScopes(errors: readonly (GPUError | null)[]): TilewiseError | undefined {
  const error = errors.find(e => e && isOutOfMemory(e)) ?? errors.find(e => e);
  return error ? faultOf(error) : undefined;
}

const nothing = (): undefined => undefined;

/** The error to throw once the device is lost. */
export function deviceLost(info: GPUDeviceLostInfo): TilewiseError {
  return new TilewiseError(
    'DEVICE_LOST',
    `the GPU device was lost (${info.reason}): make a new context. ${info.message}`,
  );
}

/** Runs synchronous GPU calls. Returns their result, and a promise of the first GPU error that they cause. */
export function withFaults<R>(
  device: GPUDevice,
  run: () => R,
): { result: R; fault: Promise<TilewiseError | undefined> } {
  device.pushErrorScope('out-of-memory');
  device.pushErrorScope('validation');
  let result: R;
  let fault: Promise<TilewiseError | undefined>;
  try {
    result = run();
  } finally {
    fault = Promise.all([device.popErrorScope(), device.popErrorScope()]).then(faultOfScopes, nothing);
  }
  return { result, fault };
}
