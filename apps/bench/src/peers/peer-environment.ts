import type { BenchGpu } from '../gpu/open-webgpu.ts';

/**
 * Makes Node look like a page whose `navigator.gpu` hands out the bench's device, so that the bench can wait
 * for the queue. Call it once per process.
 */
export function openPeerEnvironment({ gpu, adapter, device }: BenchGpu): void {
  // An adapter gives only one device, so a peer that requests its own gets the bench's device.
  Object.defineProperty(adapter, 'requestDevice', { value: async () => device });
  Object.defineProperty(gpu, 'requestAdapter', { value: async () => adapter, configurable: true });
  Object.defineProperty(globalThis, 'navigator', {
    value: { gpu, userAgent: 'node', hardwareConcurrency: 1, language: 'en' },
    configurable: true,
  });
  Object.defineProperty(globalThis, 'self', { value: globalThis, configurable: true });
  copySharedSources();
  initialiseLoopVariables();
}

/** The note for peers whose shaders were changed on their way to the device. */
export const loopVariableNote = 'variables in loops given their zero values';

interface WithPrototype {
  readonly prototype: Record<string, (...args: never[]) => unknown>;
}

/** Replaces a method of a WebGPU class by a wrapper that gets the original method. */
function wrap(
  className: string,
  method: string,
  around: (original: (...args: unknown[]) => unknown, args: unknown[]) => unknown,
): void {
  const { prototype } = (globalThis as unknown as Record<string, WithPrototype>)[className];
  const original = prototype[method] as (...args: unknown[]) => unknown;
  prototype[method] = function (this: unknown, ...args: unknown[]) {
    return around((...given) => original.apply(this, given), args);
  };
}

/**
 * Counts the dispatches that this process encodes from now on. Returns a function that returns the count.
 * Call it once per process.
 */
export function countDispatches(): () => number {
  let count = 0;
  for (const method of ['dispatchWorkgroups', 'dispatchWorkgroupsIndirect']) {
    wrap('GPUComputePassEncoder', method, (original, args) => {
      count++;
      return original(...args);
    });
  }
  return () => count;
}

/**
 * Copies shared memory before uploads: the WebAssembly memory of onnxruntime-web is shared, and Dawn's
 * binding for Node does not accept shared memory as a source.
 */
function copySharedSources(): void {
  wrap('GPUQueue', 'writeBuffer', (original, [buffer, offset, data, from = 0, size]) => {
    const view = ArrayBuffer.isView(data)
      ? new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
      : new Uint8Array(data as ArrayBuffer);
    if (!(view.buffer instanceof SharedArrayBuffer)) {
      return original(buffer, offset, data, from, size);
    }
    const unit = (data as { readonly BYTES_PER_ELEMENT?: number }).BYTES_PER_ELEMENT ?? 1;
    const begin = Number(from) * unit;
    const end = size === undefined ? view.length : begin + Number(size) * unit;
    return original(buffer, offset, view.slice(begin, end));
  });
}

/**
 * Tint's SPIR-V writer does not zero a variable in a loop body on each iteration, as WGSL demands. Peers rely
 * on the zero, so it is written out here. Our own kernels initialise all their variables.
 */
function initialiseLoopVariables(): void {
  const declaration = /(^|[\s;{])var\s+(\w+)\s*:\s*([A-Za-z_]\w*(?:<[^;=]*>)?)\s*;/g;
  wrap('GPUDevice', 'createShaderModule', (original, [descriptor]) => {
    const given = descriptor as GPUShaderModuleDescriptor;
    const code = given.code.replace(
      declaration,
      (_, before: string, name: string, type: string) => `${before}var ${name} : ${type} = ${type}();`,
    );
    return original({ ...given, code });
  });
}
