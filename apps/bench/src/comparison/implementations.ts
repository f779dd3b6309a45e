import type { BenchGpu } from '../gpu/open-webgpu.ts';
import { findPeer } from '../peers/peer-module.ts';
import type { Implementation } from './implementation.ts';
import { jaxJs } from './implementations/jax-js.ts';
import { naive } from './implementations/naive.ts';
import { onnxruntimeWeb } from './implementations/onnxruntime-web.ts';
import { tfjs } from './implementations/tfjs.ts';
import { tilewise } from './implementations/tilewise.ts';

/** How an implementation is found and loaded. */
interface ImplementationSource {
  /** The npm packages that must be installed in the folder of peers. */
  readonly packages: readonly string[];
  /** Loads the implementation for a device. */
  load(bench: BenchGpu, folder: string): Promise<Implementation>;
}

/** The implementations by the name of their process. */
const implementations: Readonly<Record<string, ImplementationSource>> = {
  tilewise: { packages: [], load: async ({ ctx }) => tilewise(ctx) },
  naive: { packages: [], load: async ({ device }) => naive(device) },
  'onnxruntime-web-mha': {
    packages: ['onnxruntime-web'],
    load: ({ device }, folder) => onnxruntimeWeb(folder, device, 'MultiHeadAttention'),
  },
  'onnxruntime-web-gqa': {
    packages: ['onnxruntime-web'],
    load: ({ device }, folder) => onnxruntimeWeb(folder, device, 'GroupQueryAttention'),
  },
  'jax-js': { packages: ['@jax-js/jax'], load: (_, folder) => jaxJs(folder) },
  tfjs: {
    packages: ['@tensorflow/tfjs', '@tensorflow/tfjs-backend-webgpu'],
    load: (_, folder) => tfjs(folder),
  },
};

/** The name of our own implementation. */
export const own = 'tilewise';

/** The names of the implementations whose packages are in the folder; ours and naive attention need none. */
export function implementationsIn(folder: string | undefined): string[] {
  return Object.entries(implementations)
    .filter(([, { packages }]) => packages.every(name => folder !== undefined && findPeer(folder, name)))
    .map(([name]) => name);
}

/** Whether an implementation is a peer: another library, which may expect a browser around it. */
export const isPeer = (name: string): boolean => (implementations[name]?.packages.length ?? 0) > 0;

/** @throws Error for an unknown name. */
export function loadImplementation(name: string, bench: BenchGpu, folder: string): Promise<Implementation> {
  const source = implementations[name];
  if (!source) throw new Error(`there is no implementation ${name}`);
  return source.load(bench, folder);
}
