// The work of every runtime with the installed packages: `smokeCpu` computes attention on the CPU, its
// gradients, a graph and a dropout mask, and `smokeGpu` attention on WebGPU, a few steps of training and a
// text. Both throw if a result is wrong.
import { Tensor } from '@tilewise/core';
import { cpuEngine, sdpa, sdpaBackward } from '@tilewise/core/cpu';
import { sdpaBackward as exactBackward, sdpa as exactSdpa } from '@tilewise/core/reference';
import { compile, matmul } from '@tilewise/graph/ops';
import { architectures, createModel, createTrainer, readModel } from '@tilewise/nn';
import { dropoutMask } from '@tilewise/philox';
import { createContext, sdpa as gpuSdpa, webgpuEngine } from '@tilewise/webgpu';

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
  const [{ losses, text }, wanted] = [await trained(webgpuEngine(ctx)), await trained(cpuEngine())];
  checkClose('the loss on WebGPU', Tensor.from(losses, [3]), Tensor.from(wanted.losses, [3]));
  if (`${text}` !== `${wanted.text}`) throw new Error(`the text on WebGPU is ${text}, not ${wanted.text}`);
  ctx.destroy();
  return 'ok';
}

/** Trains a tiny GPT-2 for three steps on an engine, and continues a text. */
async function trained(engine) {
  const config = { model_type: 'gpt2', vocab_size: 50, n_embd: 32, n_layer: 1, n_head: 2, n_positions: 32 };
  const model = createModel(readModel(config), { engine });
  const trainer = createTrainer(model, { learningRate: 0.01 });
  const tokens = [7, 11].map(factor => Array.from({ length: 24 }, (_, n) => (n * factor) % 50));
  const losses = [];
  for (let n = 0; n < 3; n++) {
    losses.push((await trainer.step({ inputs: { tokens }, labels: tokens })).loss);
  }
  const text = [];
  for await (const token of model.generate([1, 2, 3], { maxNewTokens: 4 })) text.push(token);
  return { losses, text };
}
