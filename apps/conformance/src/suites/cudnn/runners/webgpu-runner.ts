import {
  describeDense,
  describeTokens,
  elementCount,
  type Fp8Scalars,
  fp8ScalarNames,
  normalise,
  normaliseBackward,
  type OperandDesc,
  type RaggedName,
  type SdpaBackwardOptions,
  Tensor,
} from '@tilewise/core';
import { rowShape } from '@tilewise/core/engine';
import { type BufferSlice, type GpuContext, type Plan, planSdpa, planSdpaBackward } from '@tilewise/webgpu';
import type { Concrete } from '../concrete/concrete.ts';
import type { StrideName } from '../format/case-format.ts';
import type { Call } from '../tensors/call.ts';
import { damage, MARGIN, poisoned } from '../tensors/canary.ts';
import { backwardOptions } from '../tensors/options.ts';
import { isRagged, raggedOffsets } from '../tensors/ragged.ts';
import { cumulative, ownedOffsets, place } from '../tensors/storage.ts';
import { GpuMemory } from './gpu-memory.ts';
import type { PassResults, Runner } from './runner.ts';

/** A result in memory that held NaN before the run, and the elements that the engine may write. */
interface Result {
  readonly tensor: Tensor;
  owned(): Iterable<number>;
}

/** The mask as a result of a plan, if `dropoutMask` is a given one. */
const maskOutput = 'outputs.dropoutMask';

/**
 * Runs calls by plans on its own buffers: operands and results have the layout of the case and are surrounded
 * by NaN, which must still be there when the results are read back.
 */
export function webgpuRunner(ctx: GpuContext): Runner {
  return {
    async forward({ concrete: c, laidOut }: Call): Promise<PassResults> {
      const { q, k, v, options } = laidOut;
      const { problem, operands } = normalise(
        { q, k, v },
        { ...options, ...ragged(c, ['q', 'k', 'v', 'o']) },
      );
      const o = operandResult(c, 'o', c.outDType);
      const rows = rowShape(problem);
      const results: Record<string, Result> = { o, lse: rowResult(c, rows) };
      if (problem.outputs.max) results.max = rowResult(c, rows);
      if (problem.outputs.sumExp) results.sumExp = rowResult(c, rows);
      if (problem.outputs.dropoutMask) results[maskOutput] = maskResult(c);
      const plan = planSdpa(ctx, { ...problem, o: describe(c, 'o', o.tensor) });
      const { tensors, damage } = await runPlan(ctx, plan, operands, results);
      const { [maskOutput]: dropoutMask, ...others } = tensors;
      return { tensors: { ...others, ...(dropoutMask && { dropoutMask }) }, damage };
    },
    async backward(
      { concrete: c, laidOut, gradients }: Call,
      { tensors }: PassResults,
    ): Promise<PassResults> {
      const { q, k, v, dO, options } = laidOut;
      const inputs = { q, k, v, dO, o: tensors.o, lse: tensors.lse };
      const { problem, operands } = normaliseBackward(inputs, {
        ...options,
        ...backwardOptions(c),
        ...ragged(c, ['q', 'k', 'v', 'o', 'dO', 'dq', 'dk', 'dv']),
      });
      const [dq, dk, dv] = (['q', 'k', 'v'] as const).map(name =>
        operandResult(c, name, problem[`d${name}`].dtype),
      );
      const { bias } = options;
      const results: Record<string, Result> = {
        ...{ dq, dk, dv },
        ...(gradients.includes('dbias') && bias && { dbias: plainResult(bias.dtype, bias.shape) }),
        ...(gradients.includes('dsink') && { dsink: plainResult('f32', [c.dims.Hq]) }),
      };
      const layouts = {
        dq: describe(c, 'q', dq.tensor),
        dk: describe(c, 'k', dk.tensor),
        dv: describe(c, 'v', dv.tensor),
      };
      return runPlan(ctx, planSdpaBackward(ctx, problem, { layouts }), operands, results);
    },
  };
}

/** The ragged offsets of tensors that all have the layout of the case. */
function ragged(
  c: Concrete,
  names: readonly RaggedName[],
): Pick<SdpaBackwardOptions<Tensor>, 'raggedOffsets'> {
  return isRagged(c) ? { raggedOffsets: raggedOffsets(c, names) } : {};
}

function describe(c: Concrete, name: StrideName, tensor: Tensor): OperandDesc {
  if (!c.layouts[name].packed) return describeDense(name, tensor);
  return describeTokens(name, tensor, isRagged(c) ? 'ragged' : 'cumulative');
}

function operandResult(c: Concrete, name: StrideName, dtype: Tensor['dtype']): Result {
  const placed = place(c, name, dtype);
  return { tensor: placed.tensor, owned: () => ownedOffsets(placed, c.dims.B, c.layouts[name].packed) };
}

/**
 * lse, max or sumExp: contiguous (B, Hq, Sq), or (Hq, T), in which tokens that belong to no sequence are not
 * written.
 */
function rowResult({ dims, lengths }: Concrete, shape: readonly number[]): Result {
  const { tensor, owned } = plainResult('f32', shape);
  if (shape.length !== 2) return { tensor, owned };
  const [heads, tokens] = shape;
  const used = cumulative(lengths.q ?? new Array<number>(dims.B).fill(dims.Sq))[dims.B];
  return {
    tensor,
    *owned() {
      for (let h = 0; h < heads; h++) for (let t = 0; t < used; t++) yield tensor.offset + h * tokens + t;
    },
  };
}

/** The dropout mask: a byte for each probability. */
function maskResult({ dims: { B, Hq, Sq, Skv } }: Concrete): Result {
  return plainResult('u8', [B, Hq, Sq, Skv]);
}

/** A contiguous result, which is written in full. */
function plainResult(dtype: Tensor['dtype'], shape: readonly number[]): Result {
  const count = elementCount(shape);
  const data = poisoned(dtype, MARGIN + count + MARGIN);
  const tensor = Tensor.wrap(data, { dtype, shape, offset: MARGIN });
  return { tensor, owned: () => tensor.offsets() };
}

/** Encodes a plan on buffers with the operands and results, submits it, and reads the results. */
async function runPlan(
  ctx: GpuContext,
  plan: Plan,
  operands: { readonly fp8?: Fp8Scalars<Tensor> },
  results: Readonly<Record<string, Result>>,
): Promise<PassResults> {
  const { device } = ctx;
  const memory = new GpuMemory(device);
  const given = new Map(namedTensors(operands));
  const list = fp8List(operands);
  try {
    const buffers: Record<string, BufferSlice> = {};
    for (const { name } of plan.tensors) {
      const tensor = name === 'fp8' ? list : (results[name]?.tensor ?? given.get(name));
      if (tensor) buffers[name] = memory.upload(tensor);
    }
    if (plan.workspaceBytes > 0) buffers.workspace = memory.scratch(plan.workspaceBytes);
    device.pushErrorScope('validation');
    const encoder = device.createCommandEncoder();
    plan.encode(encoder, buffers);
    device.queue.submit([encoder.finish()]);
    const fault = await device.popErrorScope();
    if (fault) throw new Error(`the device says: ${fault.message}`);
    const tensors: Record<string, Tensor> = {};
    const found: string[] = [];
    for (const [name, result] of Object.entries(results)) {
      const back = await memory.download(buffers[name], result.tensor);
      tensors[name] = back;
      const changed = damage(back, result.owned());
      if (changed > 0) found.push(`${changed} elements that are not of ${name} were written`);
    }
    if (buffers.fp8) Object.assign(tensors, largestValues(await memory.download(buffers.fp8, list)));
    return { tensors, damage: found };
  } finally {
    memory.free();
    plan.destroy();
  }
}

/**
 * The tensors of operands by their binding names in plans; the names of a group's tensors, such as captures,
 * start with the group's name.
 */
function* namedTensors(operands: object, group = ''): Generator<[string, Tensor]> {
  for (const [name, value] of Object.entries(operands)) {
    if (value instanceof Tensor) yield [`${group}${name}`, value];
    else if (typeof value === 'object' && value !== null) yield* namedTensors(value, `${name}.`);
  }
}

const amaxNames = ['amaxS', 'amaxO', 'amaxDQ', 'amaxDK', 'amaxDV', 'amaxDP'] as const;

/** The list that plans bind as `fp8`: all scalars, then the largest values. */
function fp8List({ fp8 }: { readonly fp8?: Fp8Scalars<Tensor> }): Tensor {
  // MXFP8 has no scalars, but the list still has slots for them.
  const values = fp8ScalarNames.map(name => fp8?.[name].toFloat32()[0] ?? 1);
  const all = [...values, ...amaxNames.map(() => 0)];
  return Tensor.from(all, [all.length]);
}

function largestValues(list: Tensor): Record<string, Tensor> {
  return Object.fromEntries(
    amaxNames.map((name, n) => [name, Tensor.from([list.get(fp8ScalarNames.length + n)], [1])]),
  );
}
