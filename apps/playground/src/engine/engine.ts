import type {
  BackwardInputs,
  Engine,
  GradientName,
  SdpaBackwardOptions,
  SdpaGradients,
  SdpaOptions,
  SdpaResult,
  Tensor,
  TensorDesc,
} from '@tilewise/core';

/** The engine of the page: a GPU, or the CPU and the reason. */
export type RunsOn =
  | { readonly kind: 'webgpu'; readonly description: string }
  | { readonly kind: 'no-webgpu' }
  | { readonly kind: 'gpu-failed'; readonly reason: string };

/** The engine that the page computes on. It takes and returns tensors on the host. */
export interface PageEngine {
  readonly runsOn: RunsOn;
  sdpa(q: Tensor, k: Tensor, v: Tensor, options?: SdpaOptions): Promise<SdpaResult>;
  sdpaBackward<G extends GradientName>(
    inputs: BackwardInputs<Tensor>,
    options: SdpaBackwardOptions<Tensor, G>,
  ): Promise<SdpaGradients<Tensor, G>>;
}

let loading: Promise<PageEngine> | null = null;

/**
 * WebGPU if there is a GPU, else the CPU engine. The choice is made once, and only the chosen engine's code
 * is loaded.
 */
export function loadEngine(): Promise<PageEngine> {
  loading ??= find();
  return loading;
}

async function find(): Promise<PageEngine> {
  const gpu = await gpuEngine();
  if ('sdpa' in gpu) return gpu;
  const { cpuEngine } = await import('@tilewise/core/cpu');
  return hostCalls(cpuEngine(), gpu);
}

/** The WebGPU engine, or why there is none. */
async function gpuEngine(): Promise<PageEngine | RunsOn> {
  if (!('gpu' in navigator)) return { kind: 'no-webgpu' };
  try {
    const { createContext, webgpuEngine } = await import('@tilewise/webgpu');
    const engine = webgpuEngine(await createContext());
    return hostCalls(engine, { kind: 'webgpu', description: engine.description });
  } catch (error) {
    return { kind: 'gpu-failed', reason: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * An engine that uploads tensors for each call and downloads the results, for the small figures of a page.
 */
export function hostCalls<T extends TensorDesc>(engine: Engine<T>, runsOn: RunsOn): PageEngine {
  const download = async <R extends object>(results: R): Promise<Record<string, Tensor>> => {
    const named: [string, T][] = Object.entries(results);
    try {
      const host = await Promise.all(
        named.map(async ([name, t]) => [name, await engine.download(t)] as const),
      );
      return Object.fromEntries(host);
    } finally {
      for (const [, t] of named) engine.release(t);
    }
  };
  return {
    runsOn,
    async sdpa(q, k, v, options = {}) {
      const inputs = [q, k, v].map(t => engine.upload(t)) as [T, T, T];
      try {
        // Every engine takes host tensors in its options.
        const results = await engine.sdpa(...inputs, options as SdpaOptions<never>);
        return (await download(results)) as unknown as SdpaResult;
      } finally {
        for (const t of inputs) engine.release(t);
      }
    },
    async sdpaBackward<G extends GradientName>(
      inputs: BackwardInputs<Tensor>,
      options: SdpaBackwardOptions<Tensor, G>,
    ) {
      const named: [string, Tensor][] = Object.entries(inputs).filter(([, t]) => t !== undefined);
      const uploaded = Object.fromEntries(named.map(([name, t]) => [name, engine.upload(t)]));
      try {
        const results = await engine.sdpaBackward<G>(
          uploaded as unknown as BackwardInputs<T>,
          options as unknown as SdpaBackwardOptions<never, G>,
        );
        return (await download(results)) as unknown as SdpaGradients<Tensor, G>;
      } finally {
        for (const t of Object.values(uploaded)) engine.release(t);
      }
    },
  };
}
