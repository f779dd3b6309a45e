// What every runtime must do with the installed packages: attention on the CPU, its gradients, a graph and a
// dropout mask; and, if `gpu` is given, attention on WebGPU. Throws if a result is wrong.
import { Tensor } from '@tilewise/core';
import { cpuEngine, sdpa, sdpaBackward } from '@tilewise/core/cpu';
import { sdpa as exactSdpa } from '@tilewise/core/reference';
import { compile, matmul } from '@tilewise/graph/ops';
import { architectures } from '@tilewise/nn';
import { dropoutMask } from '@tilewise/philox';
import { createContext, sdpa as gpuSdpa } from '@tilewise/webgpu';

const x = Tensor.from(
  Float32Array.from({ length: 512 }, (_, n) => Math.sin(n)),
  [1, 2, 16, 16],
);
const exact = exactSdpa(x, x, x, { causal: true }).o.toFloat64();

function close(name, got) {
  const error = got.reduce((most, value, n) => Math.max(most, Math.abs(value - exact[n])), 0);
  if (!(error < 1e-5)) throw new Error(`${name} is off by ${error}`);
}

export async function smokeCpu() {
  const { o, lse } = sdpa(x, x, x, { causal: true });
  close('attention on the CPU', o.toFloat32());
  const { dq } = sdpaBackward({ q: x, k: x, v: x, o, lse, dO: x }, { causal: true });
  if (!dq.toFloat32().every(Number.isFinite)) throw new Error('a gradient is not finite');
  const double = compile(cpuEngine(), ({ a }) => matmul(a, a), { a: [2, 2] });
  const [first] = (await double({ a: Tensor.from([1, 2, 3, 4], [2, 2]) })).toFloat32();
  if (first !== 7) throw new Error(`a graph gives ${first} instead of 7`);
  const mask = dropoutMask({ shape: [1, 1, 4, 8], p: 0.5, seed: 42n, offset: 0n, scheme: 'torch-efficient' });
  if (mask.length !== 32 || !architectures) throw new Error('philox or nn is incomplete');
  return cpuEngine().description;
}

export async function smokeGpu() {
  const ctx = await createContext();
  const t = ctx.upload(x);
  close('attention on WebGPU', (await ctx.download(gpuSdpa(ctx, t, t, t, { causal: true }).o)).toFloat32());
  ctx.destroy();
  return 'ok';
}
