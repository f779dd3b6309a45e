import { InvalidShapeError } from '@tilewise/core';
import {
  type CallSettings,
  type OperandName,
  operandForm,
  operandForms,
} from '../../ir/program/attention-call.ts';
import type { Lowering, Value } from '../../ir/program/lowering.ts';
import { contiguous, reshaped } from '../../ir/program/views.ts';
import type { Attributes, OperationCall } from '../../ir/schema/attribute.ts';
import type { Operation } from '../../ir/schema/operation.ts';
import { type LogicalShape, type LogicalTensor, UNKNOWN } from '../../ir/tensor/logical-tensor.ts';
import { anything } from '../ports.ts';
import { attentionNames } from './names.ts';
import { sdpaGradient } from './sdpa-gradient.ts';

type Pass = 'forward' | 'backward';

/** Results of each pass: what they have the shape of. */
const resultShapes: Readonly<Record<Pass, Readonly<Record<string, (call: Named) => LogicalShape>>>> = {
  forward: {
    o: outputShape,
    lse: rowShape,
    max: rowShape,
    sumExp: rowShape,
    dropoutMask: scoreShape,
    amaxS: scalarShape,
    amaxO: scalarShape,
  },
  backward: {
    dq: call => call.shape('q'),
    dk: call => call.shape('k'),
    dv: call => call.shape('v'),
    dbias: call => call.shape('bias'),
    dsink: call => call.shape('sink'),
    dAlibi: call => call.shape('alibi'),
    amaxDQ: scalarShape,
    amaxDK: scalarShape,
    amaxDV: scalarShape,
    amaxDP: scalarShape,
  },
};

/** What each pass cannot do without. */
const requiredOperands: Readonly<Record<Pass, readonly OperandName[]>> = {
  forward: ['q', 'k', 'v'],
  backward: ['q', 'k', 'v', 'o', 'lse', 'dO'],
};

/** An attention operation with its tensors by name. */
interface Named {
  readonly attributes: Attributes;
  shape(name: OperandName): LogicalShape;
}

function wrongNames(pass: Pass, { attributes, inputs, outputs }: OperationCall): string | null {
  const { operands, results } = attentionNames(attributes);
  const lists = [
    {
      name: 'operands',
      names: operands,
      isKnown: (own: string) => operandForm(own) !== undefined,
      known: [...Object.keys(operandForms), 'captures.NAME'],
      count: inputs.length,
    },
    {
      name: 'results',
      names: results,
      isKnown: (own: string) => Object.hasOwn(resultShapes[pass], own),
      known: Object.keys(resultShapes[pass]),
      count: outputs.length,
    },
  ];
  for (const { name, names, isKnown, known, count } of lists) {
    const strange = names.find(own => !isKnown(own));
    if (strange !== undefined)
      return `attribute '${name}' cannot hold '${strange}', which is none of ${known.join(', ')}`;
    if (new Set(names).size !== names.length)
      return `attribute '${name}' names something twice: '${names.join(' ')}'`;
    if (names.length !== count)
      return `attribute '${name}' must name all ${count} tensors, got '${names.join(' ')}'`;
  }
  const missing = requiredOperands[pass].find(name => !operands.includes(name));
  if (missing !== undefined) return `needs the operand '${missing}'`;
  return isJson(attributes.score_mod) ? null : "attribute 'score_mod' must be an expression in JSON";
}

function isJson(text: unknown): boolean {
  if (typeof text !== 'string') return true;
  try {
    return typeof JSON.parse(text) === 'object';
  } catch {
    return false;
  }
}

function attentionOperation(kind: string, pass: Pass, summary: string): Operation {
  return {
    kind,
    summary,
    inputs: [{ name: 'operand', type: 'T', among: anything, variadic: true }],
    outputs: [{ name: 'result', type: 'U', among: anything, variadic: true }],
    attributes: {
      operands: { type: 'string', required: true },
      results: { type: 'string', required: true },
      scale: { type: 'f32' },
      softcap: { type: 'f32' },
      left: { type: 's64' },
      right: { type: 's64' },
      align: { type: 'string', among: ['top-left', 'bottom-right'] },
      alibi: { type: 'bool', default: false },
      score_mod: { type: 'string' },
      p: { type: 'f32' },
      max_seq_len_q: { type: 's64' },
      max_seq_len_kv: { type: 's64' },
    },
    constraint: call => wrongNames(pass, call),
    ...(pass === 'forward' && { gradient: sdpaGradient }),
    infer: call => {
      const { operands, results } = attentionNames(call.attributes);
      const shape = (name: OperandName): LogicalShape => call.inputs[operands.indexOf(name)]?.shape ?? null;
      return results.map(name => resultShapes[pass][name]({ attributes: call.attributes, shape }));
    },
    lower: lowering => lowerAttention(pass, lowering),
  };
}

/** All of attention as one operation each way, which every engine runs on its kernels. */
export const attentionOperations: readonly Operation[] = [
  attentionOperation(
    'Sdpa',
    'forward',
    'Attention. `operands` and `results` name inputs and outputs as `sdpa` does; lse, max, sumExp: (B, Hq, Sq, 1). Not an operation of oneDNN.',
  ),
  attentionOperation(
    'SdpaBackward',
    'backward',
    'The gradients of Sdpa from its operands, o, lse and dO, named in the same way. Not an operation of oneDNN.',
  ),
];

/** The settings of attributes; `left` and `right` count keys beside the diagonal one. */
export function settingsOf(attributes: Attributes): CallSettings {
  const { scale, softcap, left, right, align, alibi, score_mod, p, max_seq_len_q, max_seq_len_kv } =
    attributes as {
      readonly [name: string]: number | undefined;
    } & {
      readonly align?: 'top-left' | 'bottom-right';
      readonly alibi?: boolean;
      readonly score_mod?: string;
    };
  const window = align !== undefined || left !== undefined || right !== undefined;
  return {
    ...(scale !== undefined && { scale }),
    ...(softcap !== undefined && { softcap }),
    ...(window && {
      window: {
        ...(left !== undefined && { left }),
        ...(right !== undefined && { right }),
        ...(align !== undefined && { align }),
      },
    }),
    ...(alibi && { alibi }),
    ...(score_mod !== undefined && { scoreMod: JSON.parse(score_mod) }),
    ...(p !== undefined && { p }),
    ...(max_seq_len_q !== undefined && { maxSeqLenQ: max_seq_len_q }),
    ...(max_seq_len_kv !== undefined && { maxSeqLenKv: max_seq_len_kv }),
  };
}

function lowerAttention(pass: Pass, lowering: Lowering): void {
  const { operands, results } = attentionNames(lowering.call.attributes);
  const named = operands.map(
    (name, n) =>
      [name, asOperand(lowering, name, lowering.inputs[n], lowering.call.inputs[n]).index] as const,
  );
  const made = results.map((name, n) => [name, asResult(lowering, name, lowering.outputs[n]).index] as const);
  lowering.attentionCall({
    kind: 'attention-call',
    pass,
    operands: Object.fromEntries(named),
    settings: settingsOf(lowering.call.attributes),
    results: Object.fromEntries(made),
  });
}

/** An operand in the shape in which attention takes it. */
function asOperand(lowering: Lowering, name: OperandName, value: Value, tensor: LogicalTensor): Value {
  const { shape } = value.desc;
  const count = shape.reduce((n, extent) => n * extent, 1);
  switch (operandForm(name)) {
    case 'list':
      return reshaped(lowering, value, [count]);
    case 'table':
      return shape.length === 1 ? value : reshaped(lowering, value, [shape[0], count / shape[0]]);
    case 'rows':
      return contiguous(lowering, withoutLast(lowering, value));
    case 'number':
      if (count !== (tensor.dtype === 'i64' ? 2 : 1))
        throw new InvalidShapeError(name, `must hold one number, got [${tensor.shape}]`);
      return value;
    default:
      return value;
  }
}

/** Where a result of attention goes: the same memory in the shape that attention gives it. */
function asResult(lowering: Lowering, name: string, value: Value): Value {
  if (rowResults.has(name)) return withoutLast(lowering, value);
  const isList = name.startsWith('amax') || name === 'dsink' || name === 'dAlibi';
  const count = value.desc.shape.reduce((n, extent) => n * extent, 1);
  return isList ? reshaped(lowering, value, [count]) : value;
}

const rowResults: ReadonlySet<string> = new Set(['lse', 'max', 'sumExp']);

/** (B, Hq, Sq, 1) as (B, Hq, Sq); what has no such dimension as it is. */
function withoutLast(lowering: Lowering, value: Value): Value {
  const { shape, strides } = value.desc;
  return shape.length === 4 ? lowering.view(value, shape.slice(0, 3), strides.slice(0, 3)) : value;
}

/** (B, Hq, Sq, Dv), or packed (T, Hq, Dv). */
function outputShape({ shape }: Named): LogicalShape {
  const [q, v] = [shape('q'), shape('v')];
  return q && v && [...q.slice(0, -1), v[v.length - 1]];
}

/** (B, Hq, Sq, 1), of packed queries (Hq, T). */
function rowShape({ attributes, shape }: Named): LogicalShape {
  const q = shape('q');
  if (q === null) return null;
  if (q.length !== 3) return [...q.slice(0, 3), 1];
  const offsets = shape('raggedOffsets.q');
  if (offsets === null) return [q[1], q[0]];
  const [ends] = offsets;
  const longest = attributes.max_seq_len_q;
  return [ends === UNKNOWN ? UNKNOWN : ends - 1, q[1], typeof longest === 'number' ? longest : UNKNOWN, 1];
}

/** (B, Hq, Sq, Skv). */
function scoreShape({ attributes, shape }: Named): LogicalShape {
  const [q, k] = [shape('q'), shape('k')];
  if (q?.length !== 4 || k === null) return null;
  const longest = attributes.max_seq_len_kv;
  const dense = k.length === 4 && shape('pageTableK') === null;
  return [...q.slice(0, 3), typeof longest === 'number' ? longest : dense ? k[2] : UNKNOWN];
}

function scalarShape(): LogicalShape {
  return [1, 1, 1, 1];
}
