import type { BenchGpu } from '../open-webgpu.ts';
import type { Contestant } from './contestant.ts';
import { jaxJs } from './jax-js.ts';
import { naive } from './naive.ts';
import { onnxruntimeWeb } from './onnxruntime-web.ts';
import { findPeer } from './peer-module.ts';
import { tfjs } from './tfjs.ts';
import { tilewise } from './tilewise.ts';

/** One that may take part. */
interface Entrant {
  /** What it needs to be installed in the folder of peers. */
  readonly packages: readonly string[];
  /** Loads it, onto the device that it is to run on. */
  load(bench: BenchGpu, folder: string): Promise<Contestant>;
}

/** By the names under which they are started. */
const entrants: Readonly<Record<string, Entrant>> = {
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

/** Ours, first of all. */
export const own = 'tilewise';

/** The names of those that can take part: ours, and those whose packages are in the folder. */
export function entrantsIn(folder: string | undefined): string[] {
  return Object.entries(entrants)
    .filter(([, { packages }]) => packages.every(name => folder !== undefined && findPeer(folder, name)))
    .map(([name]) => name);
}

/** Whether one comes from elsewhere, and finds the world that it expects only where it is made for it. */
export const isPeer = (name: string): boolean => (entrants[name]?.packages.length ?? 0) > 0;

/** @throws Error for a name that there is not. */
export function loadEntrant(name: string, bench: BenchGpu, folder: string): Promise<Contestant> {
  const entrant = entrants[name];
  if (!entrant) throw new Error(`there is no contestant ${name}`);
  return entrant.load(bench, folder);
}
