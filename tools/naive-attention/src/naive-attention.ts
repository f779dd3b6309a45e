import { type Product, productGroups, productShader } from './product.ts';
import { softmaxGradientShader, softmaxShader } from './row-softmax.ts';

/**
 * Attention of `heads` (batch times heads) with S queries and keys, head size D, and scale 1/√D. All f32,
 * row-major.
 */
export interface NaiveShape {
  readonly heads: number;
  readonly S: number;
  readonly D: number;
  /** Query i sees keys 0 to i. */
  readonly causal: boolean;
}

/** A buffer that a pass needs. */
export interface NaiveTensor {
  readonly name: string;
  readonly bytes: number;
}

/** One pass, which can be encoded any number of times. */
export interface NaivePass {
  readonly tensors: readonly NaiveTensor[];
  /** Encodes the kernels; takes buffers by the names in `tensors`. */
  encode(pass: GPUComputePassEncoder, buffers: Readonly<Record<string, GPUBuffer>>): void;
}

/** A kernel before it is compiled, and its bindings. */
interface Step {
  readonly code: string;
  readonly groups: readonly [number, number, number];
  readonly tensors: readonly string[];
}

/**
 * Attention with the scores in memory.
 *
 *     forward    s = scale·q·kᵀ    p = softmax(s), in place    o = p·v
 *     backward   dv = pᵀ·dO    dp = dO·vᵀ    ds = p∘(dp − rowsum(p∘dp)), in place
 *                dq = scale·ds·k    dk = scale·dsᵀ·q
 *
 * @throws RangeError when the device cannot bind the scores; the error of a shader when one does not compile.
 */
export async function naiveAttention(
  device: GPUDevice,
  shape: NaiveShape,
): Promise<{ readonly forward: NaivePass; readonly backward: NaivePass }> {
  const { heads, S, D, causal } = shape;
  const scores = 4 * heads * S * S;
  const largest = Math.min(device.limits.maxStorageBufferBindingSize, device.limits.maxBufferSize);
  if (scores > largest) {
    throw new RangeError(`the scores take ${scores} bytes, but this device binds at most ${largest}`);
  }
  const bytesOf = (name: string): number => (name === 'p' || name === 'ds' ? scores : 4 * heads * S * D);

  const scale = 1 / Math.sqrt(D);
  const rows = [S, heads, 1] as const;
  const plain: Product = { m: S, n: D, k: S, factor: 1, transposeA: false, transposeB: false };
  const outer: Product = { ...plain, n: S, k: D, transposeB: true };
  const product = (of: Product, ...tensors: readonly [a: string, b: string, c: string]): Step => ({
    code: productShader(of),
    groups: productGroups(of, heads),
    tensors,
  });
  const forward: readonly Step[] = [
    product({ ...outer, factor: scale }, 'q', 'k', 'p'),
    { code: softmaxShader(S, causal), groups: rows, tensors: ['p'] },
    product(plain, 'p', 'v', 'o'),
  ];
  const backward: readonly Step[] = [
    product({ ...plain, transposeA: true }, 'p', 'dO', 'dv'),
    product(outer, 'dO', 'v', 'ds'),
    { code: softmaxGradientShader(S, causal), groups: rows, tensors: ['p', 'ds'] },
    product({ ...plain, factor: scale }, 'ds', 'k', 'dq'),
    product({ ...plain, factor: scale, transposeA: true }, 'ds', 'q', 'dk'),
  ];
  const compile = async (steps: readonly Step[]): Promise<NaivePass> => {
    const pipelines = await Promise.all(steps.map(({ code }) => pipeline(device, code)));
    const names = [...new Set(steps.flatMap(step => step.tensors))];
    return {
      tensors: names.map(name => ({ name, bytes: bytesOf(name) })),
      encode(pass, buffers) {
        steps.forEach(({ tensors, groups }, n) => {
          const compiled = pipelines[n];
          if (!compiled) return;
          pass.setPipeline(compiled);
          pass.setBindGroup(0, bindGroup(device, compiled, tensors, buffers));
          pass.dispatchWorkgroups(...groups);
        });
      },
    };
  };
  const [first, second] = await Promise.all([compile(forward), compile(backward)]);
  return { forward: first, backward: second };
}

function pipeline(device: GPUDevice, code: string): Promise<GPUComputePipeline> {
  const module = device.createShaderModule({ code });
  return device.createComputePipelineAsync({ layout: 'auto', compute: { module } });
}

function bindGroup(
  device: GPUDevice,
  compiled: GPUComputePipeline,
  names: readonly string[],
  buffers: Readonly<Record<string, GPUBuffer>>,
): GPUBindGroup {
  const entries = names.map((name, binding) => {
    const buffer = buffers[name];
    if (!buffer) throw new TypeError(`buffers.${name} is missing`);
    return { binding, resource: { buffer } };
  });
  return device.createBindGroup({ layout: compiled.getBindGroupLayout(0), entries });
}
