import {
  type BackwardProblem,
  type Engine,
  type GradientName,
  normalise,
  normaliseBackward,
  Tensor,
  type TensorDesc,
} from '@tilewise/core';
import {
  type ErrorSize,
  type GoldenCase,
  gate,
  goldenCall,
  type MakeTensor,
  referenceGate,
  type StorageDType,
} from '@tilewise/test-data';
import type { Outcome } from '../../cases/case.ts';
import { checkCase, knownParams } from './check-case.ts';
import { poisonPadding } from './poison-padding.ts';
import { type TensorError, tensorError, worstOf } from './worst-error.ts';

const gradientNames: readonly GradientName[] = ['dq', 'dk', 'dv', 'dbias', 'dsink', 'dAlibi'];
const knownInputs = [
  'q',
  'k',
  'v',
  'dO',
  'dLse',
  'bias',
  'mask',
  'slopes',
  'keep',
  'sink',
  'docIds',
  'cuSeqQ',
  'cuSeqKv',
];

/**
 * Runs one golden case forward and backward, the backward pass on the engine's own o and lse, and compares
 * every result that the case contains. If the engine cannot run a part, the case is unsupported, provided
 * that the rest is right.
 */
export async function runGolden<T extends TensorDesc>(
  engine: Engine<T>,
  golden: GoldenCase,
  storage: StorageDType,
): Promise<Outcome> {
  const unknown = Object.keys(golden.inputs).filter(name => !knownInputs.includes(name));
  if (unknown.length > 0) return unsupported(null, [`the input ${unknown.join(', ')} is not known`]);
  const params = Object.keys(golden.params).filter(name => !knownParams.includes(name));
  if (params.length > 0) return unsupported(null, [`the parameter ${params.join(', ')} is not known`]);
  checkCase(golden);

  const held: T[] = [];
  const hold = <U extends T>(tensor: U): U => {
    held.push(tensor);
    return tensor;
  };
  const makeTensor: MakeTensor<T> = (raw, as) => hold(engine.upload(hostTensor(raw, as?.dtype ?? storage)));
  try {
    const { q, k, v, dO, dLse, options, expected } = goldenCall(poisonPadding(golden), makeTensor);
    const { problem } = normalise({ q, k, v }, options);
    const forwardSupport = engine.checkSupport(problem);
    if (!forwardSupport.supported) return unsupported(null, forwardSupport.reasons);

    const errors: TensorError[] = [];
    const missing: string[] = [];
    const compare = async (name: string, actual: T | undefined): Promise<void> => {
      if (!(name in expected)) return;
      if (actual === undefined) {
        errors.push({ tensor: name, ratio: Infinity, text: 'was not returned' });
        return;
      }
      const allowed = allowedError(engine.name, golden, name, storage);
      if (allowed === null) missing.push(`the case has no ${storage} gate for ${name}`);
      else errors.push(tensorError(name, await engine.download(hold(actual)), expected[name], allowed));
    };

    const { o, lse } = await engine.sdpa(q, k, v, options);
    await compare('o', o);
    await compare('lse', lse);

    const inputs = { q, k, v, o, lse, dO, ...(dLse && { dLse }) };
    const wanted = gradientNames.filter(name => name in expected);
    const { problem: backward } = normaliseBackward(inputs, { ...options, gradients: wanted });
    const { supported, reasons } = supportedGradients(engine, backward);
    missing.push(...reasons);
    if (supported.length > 0) {
      const gradients = await engine.sdpaBackward(inputs, { ...options, gradients: supported });
      for (const name of supported) await compare(name, gradients[name]);
    }

    const others = Object.keys(expected).filter(name => !isCompared(name));
    if (others.length > 0) missing.push(`the output ${others.join(', ')} is not known`);
    return outcomeOf(errors, missing);
  } finally {
    for (const tensor of new Set(held)) engine.release(tensor);
  }
}

function hostTensor(raw: Parameters<MakeTensor<unknown>>[0], dtype: StorageDType | 'bool'): Tensor {
  return Tensor.from(raw.data, raw.shape, { dtype });
}

function isCompared(name: string): boolean {
  return name === 'o' || name === 'lse' || gradientNames.some(gradient => gradient === name);
}

/** Each gradient separately, because an engine may lack one and have the others. */
function supportedGradients<T extends TensorDesc>(
  engine: Engine<T>,
  problem: BackwardProblem,
): { readonly supported: GradientName[]; readonly reasons: string[] } {
  const whole = engine.checkSupport(problem);
  if (whole.supported) return { supported: [...problem.gradients], reasons: [] };
  const supported = problem.gradients.filter(
    name => engine.checkSupport({ ...problem, gradients: [name] }).supported,
  );
  const lacking = problem.gradients.filter(name => !supported.includes(name));
  return {
    supported,
    reasons: [`${lacking.join(', ') || 'these gradients together'}: ${whole.reasons.join('; ')}`],
  };
}

/**
 * The error that the case allows, or null if it does not contain the error of an eager implementation to
 * compare with.
 */
function allowedError(
  engine: string,
  golden: GoldenCase,
  tensor: string,
  storage: StorageDType,
): ErrorSize | null {
  if (engine === 'reference' && storage === 'f32') {
    const max = referenceGate(golden, tensor);
    return { max, rms: max };
  }
  const inFile = tensor === 'dAlibi' ? 'dslopes' : tensor;
  return golden.refErr?.[storage]?.[inFile] ? gate(golden, tensor, storage) : null;
}

function outcomeOf(errors: readonly TensorError[], missing: readonly string[]): Outcome {
  if (errors.length === 0) return unsupported(null, missing);
  const { tensor, ratio, text } = worstOf(errors);
  const error = Number.isFinite(ratio) ? ratio : null;
  if (!(ratio <= 1)) return { status: 'fail', error, reason: `${tensor} ${text}` };
  if (missing.length > 0) return unsupported(error, missing);
  return { status: 'pass', error, reason: `${tensor} ${text}` };
}

function unsupported(error: number | null, reasons: readonly string[]): Outcome {
  return { status: 'unsupported', error, reason: reasons.join('; ') };
}
