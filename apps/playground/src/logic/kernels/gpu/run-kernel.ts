import { type ArrayName, rowCount, rowLength } from '../puzzles/arrays.ts';
import type { KernelInput } from '../puzzles/inputs.ts';
import { workgroupsOf } from '../puzzles/puzzles.ts';
import type { CompiledKernel } from './compile.ts';
import { KernelError } from './failure.ts';

/** The value of every output element before the kernel runs; an element that still has it was not written. */
export const unwritten: number = Math.fround(-7.654321e30);

/** Rows after the last one, which no kernel may read or write: NaN in inputs, `unwritten` in outputs. */
const guardRows = 64;

/** The outputs of a run, and its reads. */
export interface Results {
  /** The outputs, with `guardRows` rows after the last one. */
  readonly outputs: ReadonlyMap<ArrayName, Float32Array>;
  /** Reads of each input; empty if reads were not counted. */
  readonly reads: ReadonlyMap<ArrayName, number>;
}

/** A kernel with its buffers, ready to be encoded. */
export interface BoundKernel {
  encode(pass: GPUComputePassEncoder): void;
  /** Runs the kernel once and reads its outputs back. */
  results(): Promise<Results>;
  destroy(): void;
}

// MAP_READ, COPY_SRC, COPY_DST, UNIFORM and STORAGE of GPUBufferUsage, which does not exist without WebGPU.
const usage = { mapRead: 1, copySrc: 4, copyDst: 8, uniform: 64, storage: 128 } as const;

/** Uploads an input to buffers and binds a kernel to them. */
export function bindKernel(device: GPUDevice, kernel: CompiledKernel, input: KernelInput): BoundKernel {
  const { puzzle, pipeline, counting } = kernel;
  const { sizes, scale } = input;
  const buffers: GPUBuffer[] = [];
  const bufferOf = (
    bytes: Float32Array<ArrayBuffer> | Uint32Array<ArrayBuffer>,
    flags: number,
  ): GPUBuffer => {
    const buffer = device.createBuffer({ size: bytes.byteLength, usage: flags | usage.copyDst });
    device.queue.writeBuffer(buffer, 0, bytes);
    buffers.push(buffer);
    return buffer;
  };
  const lengthOf = (name: ArrayName): number => (rowCount(name, sizes) + guardRows) * rowLength(name, sizes);
  const uniform = new Uint32Array([sizes.n, 0, 0, 0]);
  new Float32Array(uniform.buffer).set([scale], 1);
  const inputs = puzzle.inputs.map(name => {
    const values = new Float32Array(lengthOf(name)).fill(Number.NaN);
    values.set(input.arrays.get(name) ?? []);
    return bufferOf(values, usage.storage);
  });
  const blank = puzzle.outputs.map(name => new Float32Array(lengthOf(name)).fill(unwritten));
  const outputs = blank.map(values => bufferOf(values, usage.storage | usage.copySrc));
  const counters = new Uint32Array(puzzle.inputs.length);
  const counter = bufferOf(counters, usage.storage | usage.copySrc);
  const group = (index: number, all: readonly GPUBuffer[]): GPUBindGroup =>
    device.createBindGroup({
      layout: pipeline.getBindGroupLayout(index),
      entries: all.map((buffer, binding) => ({ binding, resource: { buffer } })),
    });
  const groups = [
    group(0, [bufferOf(uniform, usage.uniform), ...inputs, ...outputs]),
    ...(counting ? [group(1, [counter])] : []),
  ];
  const encode = (pass: GPUComputePassEncoder): void => {
    pass.setPipeline(pipeline);
    for (const [n, one] of groups.entries()) pass.setBindGroup(n, one);
    pass.dispatchWorkgroups(workgroupsOf(puzzle, sizes));
  };
  return {
    encode,
    async results() {
      for (const [n, buffer] of outputs.entries()) device.queue.writeBuffer(buffer, 0, blank[n] ?? counters);
      device.pushErrorScope('validation');
      const encoder = device.createCommandEncoder();
      const pass = encoder.beginComputePass();
      encode(pass);
      pass.end();
      const read = [...outputs, counter].map(buffer => {
        const copy = device.createBuffer({ size: buffer.size, usage: usage.mapRead | usage.copyDst });
        encoder.copyBufferToBuffer(buffer, 0, copy, 0, buffer.size);
        buffers.push(copy);
        return copy;
      });
      device.queue.submit([encoder.finish()]);
      const error = await device.popErrorScope();
      if (error) throw new KernelError({ kind: 'refused', message: error.message });
      await Promise.all(read.map(copy => copy.mapAsync(1)));
      const bytes = read.map(copy => copy.getMappedRange().slice(0));
      const counts = new Uint32Array(bytes.at(-1) ?? new ArrayBuffer());
      return {
        outputs: new Map(puzzle.outputs.map((name, n) => [name, new Float32Array(bytes[n] ?? 0)])),
        reads: new Map(counting ? puzzle.inputs.map((name, n) => [name, counts[n] ?? 0]) : []),
      };
    },
    destroy() {
      for (const buffer of buffers) buffer.destroy();
    },
  };
}
