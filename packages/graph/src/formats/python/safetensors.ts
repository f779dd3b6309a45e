import { type DType, dtypeInfo, type Tensor } from '@tilewise/core';

const names: Readonly<Record<DType, string>> = {
  ...{ f32: 'F32', f16: 'F16', bf16: 'BF16', f8e4m3: 'F8_E4M3', f8e5m2: 'F8_E5M2' },
  ...{ i32: 'I32', u32: 'U32', i8: 'I8', u8: 'U8', bool: 'BOOL' },
};

/**
 * Tensors by name, and texts, as a safetensors file. Source: https://huggingface.co/docs/safetensors,
 * "Format".
 */
export function safetensorsFile(
  tensors: ReadonlyMap<string, Tensor>,
  texts: Readonly<Record<string, string>> = {},
): Uint8Array<ArrayBuffer> {
  const header: Record<string, unknown> = Object.keys(texts).length > 0 ? { __metadata__: texts } : {};
  let end = 0;
  // Wide dtypes first, so that each tensor lies at a multiple of its size.
  const sorted = [...tensors].sort(([, a], [, b]) => dtypeInfo[b.dtype].bytes - dtypeInfo[a.dtype].bytes);
  const parts = sorted.map(([name, tensor]) => {
    const { data, dtype, shape } = tensor.contiguous();
    const bytes = new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
    header[name] = { dtype: names[dtype], shape, data_offsets: [end, end + bytes.length] };
    end += bytes.length;
    return bytes;
  });
  const json = new TextEncoder().encode(JSON.stringify(header));
  const length = Math.ceil(json.length / 8) * 8;
  const file = new Uint8Array(8 + length + end).fill(0x20, 8, 8 + length);
  new DataView(file.buffer).setBigUint64(0, BigInt(length), true);
  file.set(json, 8);
  let at = 8 + length;
  for (const bytes of parts) {
    file.set(bytes, at);
    at += bytes.length;
  }
  return file;
}
