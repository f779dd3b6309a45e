import { TilewiseError } from '@tilewise/core';
import type { OnnxOperator } from '../node-call.ts';
import { attentionOperators } from './attention/attention.ts';
import { positionOperators } from './attention/rotary-embedding.ts';
import { activationOperators } from './elementwise/activations.ts';
import { arithmeticOperators } from './elementwise/arithmetic.ts';
import { castOperators } from './elementwise/casts.ts';
import { comparisonOperators } from './elementwise/comparison.ts';
import { orderingOperators } from './indexing/ordering.ts';
import { scatteringOperators } from './indexing/scattering.ts';
import { selectingOperators } from './indexing/selecting.ts';
import { productOperators } from './products/products.ts';
import { normalizationOperators } from './reductions/normalization.ts';
import { reductionOperators } from './reductions/reductions.ts';
import { shapeOperators } from './shapes.ts';

const standard: Readonly<Record<string, OnnxOperator>> = {
  ...shapeOperators,
  ...arithmeticOperators,
  ...comparisonOperators,
  ...castOperators,
  ...activationOperators,
  ...selectingOperators,
  ...scatteringOperators,
  ...orderingOperators,
  ...productOperators,
  ...reductionOperators,
  ...normalizationOperators,
  ...attentionOperators,
  ...positionOperators,
};

/** The supported operators by name, by the domain of their operator set. */
export type OnnxOperators = Readonly<Record<string, Readonly<Record<string, OnnxOperator>>>>;

/** @throws TilewiseError `UNSUPPORTED`: the code could not be loaded. */
async function loaded<T>(what: string, load: () => Promise<T>): Promise<T> {
  try {
    return await load();
  } catch (cause) {
    const message = `the code of ${what} could not be loaded: ${String(cause)}`;
    throw new TilewiseError('UNSUPPORTED', message, { cause });
  }
}

/** Operators that are loaded only for models with an operator whose name the pattern matches. */
interface OperatorGroup {
  readonly names: RegExp;
  readonly what: string;
  load(): Promise<Readonly<Record<string, OnnxOperator>>>;
}

/** An operator belongs to the first group that matches its name. */
const groups: readonly OperatorGroup[] = [
  {
    names: /Conv|Pool|Space|Resize|Upsample/,
    what: "ONNX's operators on images",
    load: async () => (await import('./images/images.ts')).imageOperators,
  },
  {
    names: /Integer|^QLinear|uantizeLinear/,
    what: "ONNX's operators of quantised models",
    load: async () => (await import('./quantized/quantized.ts')).quantizedOperators,
  },
  {
    names: /^/,
    what: "ONNX's rare operators",
    load: async () => (await import('./rare/rare.ts')).rareOperators,
  },
];

/**
 * Loads the supported operators of the operator sets that a model imports. To add an operator, write a
 * function in a file of this folder and add it to that file's list. The operators of com.microsoft, of images
 * and of quantised models, and rare operators of ONNX, are loaded only for models that need them, because a
 * page that reads other models does not need their code.
 * @param used the names of the operators of ONNX that the model uses.
 * @throws TilewiseError `UNSUPPORTED`: the code could not be loaded.
 */
export async function loadOnnxOperators(
  domains: { has(domain: string): boolean },
  used: readonly string[],
): Promise<OnnxOperators> {
  const others = used.filter(op => op !== 'If' && !Object.hasOwn(standard, op));
  const needed = new Set(others.map(op => groups.find(({ names }) => names.test(op))));
  const lists = await Promise.all(Array.from(needed, group => group && loaded(group.what, group.load)));
  const own = Object.assign({}, standard, ...lists);
  if (!domains.has('com.microsoft')) return { '': own };
  const { microsoftOperators } = await loaded(
    "the operator set 'com.microsoft'",
    () => import('./microsoft.ts'),
  );
  return { '': own, 'com.microsoft': microsoftOperators };
}

/** The operator of a node; undefined if it is not supported. */
export function onnxOperatorOf(all: OnnxOperators, domain: string, op: string): OnnxOperator | undefined {
  const operators = Object.hasOwn(all, domain) ? all[domain] : undefined;
  return operators && Object.hasOwn(operators, op) ? operators[op] : undefined;
}
