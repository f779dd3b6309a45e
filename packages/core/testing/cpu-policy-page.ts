import { cpuEngine } from '../src/cpu/engine.ts';
import { bestVariant, supportedVariants } from '../src/cpu/kernels/host-kernels.ts';
import { sdpa } from '../src/cpu/sdpa.ts';
import { sdpa as exactSdpa } from '../src/reference/sdpa.ts';
import { Tensor } from '../src/tensor/tensor.ts';

/** Runs the CPU engine in a page whose policy forbids WebAssembly. */
async function run(): Promise<unknown> {
  const q = Tensor.from(
    Float32Array.from({ length: 40 * 8 }, (_, n) => Math.sin(n)),
    [1, 1, 40, 8],
  );
  const exact = exactSdpa(q, q, q).o.toFloat32();
  const error = (o: Tensor): number =>
    o.toFloat32().reduce((most, x, n) => Math.max(most, Math.abs(x - exact[n])), 0);
  const engine = cpuEngine();
  const { o } = await engine.sdpa(q, q, q);
  let refused: unknown;
  try {
    cpuEngine({ variant: 'wasm-simd' });
  } catch (caught) {
    refused = (caught as { readonly code?: unknown }).code;
  }
  return {
    variants: supportedVariants(),
    best: bestVariant(),
    description: engine.description,
    errors: [error(sdpa(q, q, q).o), error(o)],
    refused,
  };
}

Object.assign(globalThis, { result: run() });
