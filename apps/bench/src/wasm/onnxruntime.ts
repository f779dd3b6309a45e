import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Tensor } from '@tilewise/core';
import { findPeer } from '../peers/peer-module.ts';
import { UsageError } from '../suite/suite.ts';
import { onnxModel } from './onnx-model.ts';

export interface OnnxTensor {
  readonly data: Float32Array;
}

export interface OnnxSession {
  run(feeds: Readonly<Record<string, OnnxTensor>>): Promise<Readonly<Record<string, OnnxTensor>>>;
  release(): Promise<void>;
}

/** The part of onnxruntime-web that the bench uses. */
export interface OnnxRuntime {
  readonly env: {
    logLevel?: string;
    readonly wasm: Record<string, unknown>;
    readonly versions: { web?: string };
  };
  readonly Tensor: new (
    type: 'float32' | 'int32',
    data: Float32Array | Int32Array,
    shape: readonly number[],
  ) => OnnxTensor;
  readonly InferenceSession: {
    create(model: Uint8Array, options: Readonly<Record<string, unknown>>): Promise<OnnxSession>;
  };
}

/** Attention of onnxruntime-web on its WebAssembly provider, one thread, contiguous f32 (B, H, S, D). */
export interface OnnxAttention {
  readonly version: string;
  /** A session for one shape; `run` computes o. */
  open(
    q: Tensor,
    k: Tensor,
    v: Tensor,
    causal: boolean,
  ): Promise<{ run(): Promise<Tensor>; close(): Promise<void> }>;
}

/**
 * onnxruntime-web from the `node_modules` of a folder. It is 150 MB, so this app does not depend on it.
 * @throws UsageError when it is not installed there.
 */
export async function loadOnnxRuntime(folder: string): Promise<OnnxAttention> {
  const runtime = await openOnnxRuntime(folder);
  return {
    version: runtime.env.versions.web ?? '',
    async open(q, k, v, causal) {
      const session = await runtime.InferenceSession.create(attentionModel(q.shape, causal), {
        executionProviders: ['wasm'],
        logSeverityLevel: 3,
      });
      const [Q, K, V] = [q, k, v].map(t => new runtime.Tensor('float32', t.toFloat32(), t.shape));
      return {
        async run() {
          const { Y } = await session.run({ Q, K, V });
          return Tensor.wrap(Y.data, { dtype: 'f32', shape: q.shape });
        },
        close: () => session.release(),
      };
    },
  };
}

/** One `Attention` node of ONNX on f32 tensors of a shape (B, H, S, D). */
const attentionModel = (shape: readonly number[], causal: boolean): Uint8Array =>
  onnxModel({
    ...{ op: 'Attention', opset: 23, attributes: { is_causal: causal ? 1 : 0 } },
    inputs: ['Q', 'K', 'V'].map(name => ({ name, type: 'float32', shape })),
    outputs: [{ name: 'Y', type: 'float32', shape }],
  });

/**
 * The module of onnxruntime-web, set to one thread.
 * @throws UsageError when it is not installed in the folder.
 */
export async function openOnnxRuntime(folder: string): Promise<OnnxRuntime> {
  const found = findPeer(folder, 'onnxruntime-web');
  if (!found) throw notInstalled(folder);
  const dist = join(found.root, 'dist');
  const runtime: OnnxRuntime = await import(pathToFileURL(join(dist, 'ort.wasm.bundle.min.mjs')).href);
  runtime.env.logLevel = 'error';
  Object.assign(runtime.env.wasm, {
    numThreads: 1,
    wasmPaths: `${pathToFileURL(dist).href}/`,
    wasmBinary: readFileSync(join(dist, 'ort-wasm-simd-threaded.wasm')),
  });
  return runtime;
}

/** The error for a folder without onnxruntime-web. */
export const notInstalled = (folder: string): UsageError =>
  new UsageError(`--onnxruntime: onnxruntime-web is not installed in ${folder}`);
