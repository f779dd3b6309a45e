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

/** The engine that the page computes on, with tensors that come and go by the host. */
export interface PageEngine {
  readonly kind: 'webgpu' | 'cpu';
  /** One sentence: what it runs on, and why if that is not a GPU. */
  readonly note: string;
  sdpa(q: Tensor, k: Tensor, v: Tensor, options?: SdpaOptions): Promise<SdpaResult>;
  sdpaBackward<G extends GradientName>(
    inputs: BackwardInputs<Tensor>,
    options: SdpaBackwardOptions<Tensor, G>,
  ): Promise<SdpaGradients<Tensor, G>>;
}

let loading: Promise<PageEngine> | null = null;

/** WebGPU where there is a GPU, else the CPU engine. Found once; what is loaded is only what is used. */
export function loadEngine(): Promise<PageEngine> {
  loading ??= find();
  return loading;
}

async function find(): Promise<PageEngine> {
  const gpu = await gpuEngine();
  if (typeof gpu !== 'string') return gpu;
  const { cpuEngine } = await import('@tilewise/core/cpu');
  return hostCalls(cpuEngine(), 'cpu', `Computed on the CPU: ${gpu}`);
}

/** The WebGPU engine, or why there is none. */
async function gpuEngine(): Promise<PageEngine | string> {
  if (!('gpu' in navigator)) return 'this browser has no WebGPU.';
  try {
    const { createContext, webgpuEngine } = await import('@tilewise/webgpu');
    const engine = webgpuEngine(await createContext());
    return hostCalls(engine, 'webgpu', `Computed on the GPU (${engine.description}).`);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

/** An engine whose tensors are uploaded for a call and downloaded after it: for the small figures of a page. */
function hostCalls<T extends TensorDesc>(
  engine: Engine<T>,
  kind: PageEngine['kind'],
  note: string,
): PageEngine {
  const download = async <R extends object>(results: R): Promise<Record<string, Tensor>> => {
    const named: [string, T][] = Object.entries(results);
    const host = await Promise.all(named.map(async ([name, t]) => [name, await engine.download(t)] as const));
    for (const [, t] of named) engine.release(t);
    return Object.fromEntries(host);
  };
  return {
    kind,
    note,
    async sdpa(q, k, v, options = {}) {
      const inputs = [q, k, v].map(t => engine.upload(t)) as [T, T, T];
      // Every engine takes host tensors in the options.
      const results = await engine.sdpa(...inputs, options as SdpaOptions<never>);
      const host = await download(results);
      for (const t of inputs) engine.release(t);
      return host as unknown as SdpaResult;
    },
    async sdpaBackward<G extends GradientName>(
      inputs: BackwardInputs<Tensor>,
      options: SdpaBackwardOptions<Tensor, G>,
    ) {
      const named: [string, Tensor][] = Object.entries(inputs).filter(([, t]) => t !== undefined);
      const uploaded = Object.fromEntries(named.map(([name, t]) => [name, engine.upload(t)]));
      const results = await engine.sdpaBackward<G>(
        uploaded as unknown as BackwardInputs<T>,
        options as unknown as SdpaBackwardOptions<never, G>,
      );
      const host = await download(results);
      for (const t of Object.values(uploaded)) engine.release(t);
      return host as unknown as SdpaGradients<Tensor, G>;
    },
  };
}
