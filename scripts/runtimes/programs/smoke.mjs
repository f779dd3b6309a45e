// The work of every runtime with the installed packages: `smokeCpu` computes attention on the CPU, its
// gradients, a graph and a dropout mask, and `smokeGpu` attention on WebGPU. Both throw if a result is wrong.
import { Tensor } from '@tilewise/core';
import { cpuEngine, sdpa, sdpaBackward } from '@tilewise/core/cpu';
import { sdpaBackward as exactBackward, sdpa as exactSdpa } from '@tilewise/core/reference';
import { compile, matmul } from '@tilewise/graph/ops';
import { architectures } from '@tilewise/nn';
import { dropoutMask } from '@tilewise/philox';
import { createContext, sdpa as gpuSdpa } from '@tilewise/webgpu';

const x = Tensor.from(
  Float32Array.from({ length: 512 }, (_, n) => Math.sin(n)),
  [1, 2, 16, 16],
);
const exact = exactSdpa(x, x, x, { causal: true });
/** The mask below, by rows; its first words are those of cuRAND for this seed (9ceaf053, 77f5493b, …). */
const knownMask = '10001010111111100100000001000000';

function checkClose(name, got, expected) {
  const [values, wanted] = [got.toFloat64(), expected.toFloat64()];
  const error = values.reduce((most, value, n) => Math.max(most, Math.abs(value - wanted[n])), 0);
  if (!(error < 1e-5)) throw new Error(`${name} is off by ${error}`);
}

export async function smokeCpu() {
  const { o, lse } = sdpa(x, x, x, { causal: true });
  checkClose('attention on the CPU', o, exact.o);
  const gradients = sdpaBackward({ q: x, k: x, v: x, o, lse, dO: x }, { causal: true });
  const exactGradients = exactBackward({ q: x, k: x, v: x, ...exact, dO: x }, { causal: true });
  for (const name of ['dq', 'dk', 'dv']) checkClose(name, gradients[name], exactGradients[name]);
  const double = compile(cpuEngine(), ({ a }) => matmul(a, a), { a: [2, 2] });
  const [first] = (await double({ a: Tensor.from([1, 2, 3, 4], [2, 2]) })).toFloat32();
  if (first !== 7) throw new Error(`a graph gives ${first} instead of 7`);
  const mask = dropoutMask({ shape: [1, 1, 4, 8], p: 0.5, seed: 42n, offset: 0n, scheme: 'torch-efficient' });
  if (mask.join('') !== knownMask) throw new Error(`the dropout mask is ${mask.join('')}`);
  if (architectures.length === 0) throw new Error('nn has no architectures');
  return cpuEngine().description;
}

export async function smokeGpu() {
  const ctx = await createContext();
  const t = ctx.upload(x);
  const { o } = gpuSdpa(ctx, t, t, t, { causal: true });
  checkClose('attention on WebGPU', await ctx.download(o), exact.o);
  ctx.destroy();
  return 'ok';
}
