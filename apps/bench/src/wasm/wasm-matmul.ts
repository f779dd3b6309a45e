import { fileURLToPath } from 'node:url';
import { WrongResult } from '../suite/suite.ts';
import { type SecondThread, startSecondThread } from './second-thread.ts';

const folder = fileURLToPath(new URL('../../assembly', import.meta.url));
const m = 64;
const n = 128;

/** A matrix product to be timed. */
export interface WasmMatmul {
  /** Multiplications and additions of one run. */
  readonly flops: number;
  run(): void;
  /** A second thread for the same product. */
  startSecondThread(): SecondThread;
}

/**
 * Products 64 × `depth` by `depth` × 128, the size of a tile of scores with that head size, by a plain
 * WebAssembly kernel (assembly/matmul.ts), which reaches about the peak of WebAssembly on one core.
 * @param relaxed with fused multiply-add, for hosts with relaxed SIMD.
 * @throws WrongResult when the product is wrong.
 */
export async function wasmMatmul(depth: number, relaxed: boolean): Promise<WasmMatmul> {
  const module = await compileMatmul(relaxed);
  const { exports } = new WebAssembly.Instance(module);
  const { buffer } = exports.memory as WebAssembly.Memory;
  const matmul = exports.matmul as (...sizesAndAddresses: number[]) => void;
  const a = 1024;
  const b = a + 4 * m * depth;
  const c = b + 4 * n * depth;
  const operands = new Float32Array(buffer, a, (m + n) * depth);
  for (let at = 0; at < operands.length; at++) operands[at] = Math.sin(at);
  const sizes = [m, n, depth, a, b, c];
  const run = (): void => matmul(...sizes);
  run();
  const last = new Float32Array(buffer, c, m * n)[m * n - 1];
  let exact = 0;
  for (let k = 0; k < depth; k++) {
    exact += operands[(m - 1) * depth + k] * operands[m * depth + (n - 8) * depth + 8 * k + 7];
  }
  if (!(Math.abs(last - exact) < 1e-4)) throw new WrongResult(`the matmul gives ${last} instead of ${exact}`);
  return { flops: 2 * m * n * depth, run, startSecondThread: () => startSecondThread(module, sizes) };
}

async function compileMatmul(relaxed: boolean): Promise<WebAssembly.Module> {
  // Loaded on demand: the compiler is large, and other suites do not need it.
  const { default: asc } = await import('assemblyscript/asc');
  let binary = new Uint8Array();
  const features = ['--enable', 'simd', ...(relaxed ? ['--enable', 'relaxed-simd'] : [])];
  const options = ['-O3', '--noAssert', '--runtime', 'stub', '--use', 'abort=', '--initialMemory', '8'];
  const source = ['matmul.ts', '--outFile', 'matmul.wasm', '--baseDir', folder];
  const { error } = await asc.main([...source, ...options, ...features], {
    writeFile: (_name, contents) => {
      if (typeof contents !== 'string') binary = new Uint8Array(contents);
    },
  });
  if (error) throw error;
  return new WebAssembly.Module(binary);
}
