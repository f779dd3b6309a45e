import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Tensor } from '@tilewise/core';
import { bufferOf } from '../../gpu/buffers.ts';
import { loopVariableNote } from '../../peers/peer-environment.ts';
import { importPeer, peerIn } from '../../peers/peer-module.ts';
import { type OnnxType, type OnnxValue, onnxModel } from '../../wasm/onnx-model.ts';
import { type AttentionCase, copiesOf } from '../../workloads/attention/attention-case.ts';
import type { Implementation } from '../implementation.ts';
import { fromTokens, swapHeads } from './head-order.ts';

interface OrtTensor {
  getData(releaseData?: boolean): Promise<Float32Array | Uint16Array>;
  dispose(): void;
}

/** The part of onnxruntime-web that the bench uses. */
interface Ort {
  readonly env: { logLevel?: string; readonly wasm: Record<string, unknown> };
  readonly Tensor: {
    new (type: string, data: ArrayBufferView, shape: readonly number[]): OrtTensor;
    fromGpuBuffer(buffer: GPUBuffer, options: { dataType: string; dims: readonly number[] }): OrtTensor;
  };
  readonly InferenceSession: {
    create(model: Uint8Array, options: Readonly<Record<string, unknown>>): Promise<OrtSession>;
  };
}

interface OrtSession {
  run(feeds: Readonly<Record<string, OrtTensor>>): Promise<Readonly<Record<string, OrtTensor>>>;
}

type Operator = 'MultiHeadAttention' | 'GroupQueryAttention';

/**
 * A fused operator of onnxruntime-web on its WebGPU provider. ONNX's own `Attention` runs on the CPU there,
 * so it is not timed.
 */
export async function onnxruntimeWeb(
  folder: string,
  device: GPUDevice,
  operator: Operator,
): Promise<Implementation> {
  const found = peerIn(folder, 'onnxruntime-web');
  const ort = await importPeer<Ort>(found, 'dist/ort.webgpu.bundle.min.mjs');
  const dist = join(found.root, 'dist');
  ort.env.logLevel = 'error';
  Object.assign(ort.env.wasm, {
    numThreads: 1,
    wasmPaths: `${pathToFileURL(dist).href}/`,
    wasmBinary: readFileSync(join(dist, 'ort-wasm-simd-threaded.asyncify.wasm')),
  });
  return {
    name: `onnxruntime-web ${found.version} ${operator}`,
    note: loopVariableNote,
    open: of => open(ort, device, operator, of),
  };
}

async function open(
  ort: Ort,
  device: GPUDevice,
  operator: Operator,
  of: AttentionCase,
): ReturnType<Implementation['open']> {
  const { shape, dtype, causal } = of;
  if (dtype === 'bf16') return 'f32 and f16 only';
  const isGrouped = operator === 'GroupQueryAttention';
  if (isGrouped && !causal) return 'causal only';
  const [B, H, S, D] = shape;
  const type: OnnxType = dtype === 'f32' ? 'float32' : 'float16';
  const value = (name: string, dims: readonly number[], of: OnnxType = type): OnnxValue => ({
    ...{ name, type: of, shape: dims },
  });
  const tokens = [B, S, H * D];
  const operands = ['Q', 'K', 'V'].map(name => value(name, tokens));
  const model = isGrouped
    ? onnxModel({
        ...{ op: operator, domain: 'com.microsoft', opset: 21 },
        attributes: { num_heads: H, kv_num_heads: H },
        inputs: [...operands, null, null, value('last', [B], 'int32'), value('total', [1], 'int32')],
        outputs: [value('Y', tokens), value('pk', [B, H, S, D]), value('pv', [B, H, S, D])],
      })
    : onnxModel({
        ...{ op: operator, domain: 'com.microsoft', opset: 21 },
        attributes: { num_heads: H, unidirectional: causal ? 1 : 0 },
        inputs: operands,
        outputs: [value('Y', tokens)],
      });
  const outputs = isGrouped ? ['Y', 'pk', 'pv'] : ['Y'];
  let session: OrtSession;
  try {
    session = await ort.InferenceSession.create(model, {
      executionProviders: ['webgpu'],
      logSeverityLevel: 3,
      preferredOutputLocation: Object.fromEntries(outputs.map(name => [name, 'gpu-buffer'])),
    });
  } catch (error) {
    return String(error).slice(0, 100);
  }
  const inputs = copiesOf(of, ({ q, k, v }) => [q, k, v].map(t => bufferOf(device, swapHeads(t))));
  const lengths = isGrouped && {
    last: new ort.Tensor('int32', new Int32Array(B).fill(S - 1), [B]),
    total: new ort.Tensor('int32', Int32Array.of(S), [1]),
  };
  const feeds = inputs.map((buffers): Record<string, OrtTensor> => {
    const wrapped = buffers.map(b => ort.Tensor.fromGpuBuffer(b, { dataType: type, dims: tokens }));
    return { ...Object.fromEntries(operands.map(({ name }, n) => [name, wrapped[n]])), ...lengths };
  });
  // The session is not released, because releasing the last one destroys the device.
  const close = (): void => {
    for (const buffer of inputs.flat()) buffer.destroy();
  };
  const run = async (round: number): Promise<OrtTensor> => {
    const { Y, ...others } = await session.run(feeds[round % feeds.length]);
    for (const other of Object.values(others)) other.dispose();
    return Y;
  };
  return {
    forward: async round => (await run(round)).dispose(),
    async o() {
      const y = await run(0);
      const data = await y.getData();
      y.dispose();
      const values =
        dtype === 'f32'
          ? new Float32Array(data)
          : Tensor.wrap(new Uint16Array(data.buffer, data.byteOffset, data.length), {
              dtype: 'f16',
              shape: [data.length],
            }).toFloat32();
      return fromTokens(values, shape);
    },
    close,
  };
}
