import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { type DType, Tensor, type TypedArray } from '@tilewise/core';
import * as ort from 'onnxruntime-web/wasm';

const dist = dirname(createRequire(import.meta.url).resolve('onnxruntime-web/wasm'));
ort.env.wasm.numThreads = 1;
ort.env.wasm.wasmBinary = readFileSync(join(dist, 'ort-wasm-simd-threaded.wasm'));

const types: Readonly<Partial<Record<DType, ort.Tensor.Type>>> = {
  ...{ f32: 'float32', f16: 'float16', i32: 'int32', u32: 'uint32', i8: 'int8', u8: 'uint8', bool: 'bool' },
};
const dtypes = Object.fromEntries(Object.entries(types).map(([dtype, type]) => [type, dtype as DType]));

/**
 * Runs an ONNX model in onnxruntime on the CPU; returns its outputs by name.
 * @param options.int64 the inputs to pass as 64-bit integers.
 */
export async function runOnnx(
  model: Uint8Array,
  feeds: Readonly<Record<string, Tensor>>,
  { int64 = [] }: { readonly int64?: readonly string[] } = {},
): Promise<Readonly<Record<string, Tensor>>> {
  const session = await ort.InferenceSession.create(model, { logSeverityLevel: 3 });
  try {
    const given = Object.entries(feeds).map(([name, t]) => {
      const type = types[t.dtype];
      if (type === undefined) throw new Error(`onnxruntime inputs cannot be ${t.dtype} here`);
      const { data } = t.contiguous();
      if (int64.includes(name))
        return [
          name,
          new ort.Tensor('int64', BigInt64Array.from(data as Int32Array, BigInt), t.shape),
        ] as const;
      return [name, new ort.Tensor(type as 'float32', data as Float32Array, t.shape)] as const;
    });
    const results = await session.run(Object.fromEntries(given));
    return Object.fromEntries(
      Object.entries(results).map(([name, { data, dims, type }]) => {
        // Returns 64-bit integers as i32, like a model that is read by `fromOnnx`.
        const dtype = type === 'int64' ? 'i32' : dtypes[type];
        return [name, Tensor.wrap(asStored(data, dtype), { dtype, shape: dims })];
      }),
    );
  } finally {
    await session.release();
  }
}

/** On Node 24, which has Float16Array, onnxruntime returns one. */
function asStored(data: unknown, dtype: DType): TypedArray {
  if (data instanceof BigInt64Array) return Int32Array.from(data, Number);
  const view = data as TypedArray;
  return dtype === 'f16' ? new Uint16Array(view.buffer, view.byteOffset, view.length) : view;
}
