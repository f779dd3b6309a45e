import { elementCount, InvalidShapeError } from '@tilewise/core';
import { unflatten } from '@tilewise/core/expr';
import {
  type AttentionPass,
  operandForm,
  operandNames,
  resultNames,
} from '../../ir/program/attention-call.ts';
import type { Lowering, Value } from '../../ir/program/lowering.ts';
import type { Attributes } from '../../ir/schema/attribute.ts';
import { defineOperations, type OperationRules } from '../../ir/schema/define.ts';
import type { GradientCall, Operation, OperationCall } from '../../ir/schema/operation.ts';
import { type LogicalShape, type LogicalTensor, UNKNOWN } from '../../ir/tensor/logical-tensor.ts';
import { attentionNames } from './names.ts';
import { attentionSchemas, type SdpaAttributes, settingsOf } from './schema.ts';
import { gradientOf, sdpaGradient } from './sdpa-gradient.ts';

/** The operands that each pass needs. */
const requiredOperands: Readonly<Record<AttentionPass, readonly string[]>> = {
  forward: ['q', 'k', 'v'],
  backward: ['q', 'k', 'v', 'o', 'lse', 'dO'],
};

/** An attention operation, with the shapes of its operands by name. */
interface Named {
  readonly attributes: SdpaAttributes;
  shape(name: string): LogicalShape;
}

/** The rule about names that an operation breaks; null if it breaks none. */
function wrongNames(
  pass: AttentionPass,
  { attributes, inputs, outputs }: OperationCall<SdpaAttributes>,
): string | null {
  const { operands, results } = attentionNames(attributes as Attributes);
  const lists = [
    { name: 'operands', names: operands, known: [...operandNames, 'captures.NAME'], count: inputs.length },
    { name: 'results', names: results, known: resultNames[pass], count: outputs.length },
  ];
  for (const { name, names, known, count } of lists) {
    const isKnown = (own: string): boolean =>
      known.includes(own) || (name === 'operands' && operandForm(own) !== undefined);
    const unknown = names.find(own => !isKnown(own));
    if (unknown !== undefined)
      return `attribute '${name}' cannot contain '${unknown}'; known names: ${known.join(', ')}`;
    if (new Set(names).size !== names.length)
      return `attribute '${name}' names a tensor twice: '${names.join(' ')}'`;
    if (names.length !== count)
      return `attribute '${name}' must name all ${count} tensors, got '${names.join(' ')}'`;
  }
  const missing = requiredOperands[pass].find(name => !operands.includes(name));
  if (missing !== undefined) return `needs the operand '${missing}'`;
  return isExpression(attributes.score_mod)
    ? null
    : "attribute 'score_mod' must be a flattened expression in JSON";
}

function isExpression(text: string | undefined): boolean {
  if (text === undefined) return true;
  try {
    unflatten(JSON.parse(text));
    return true;
  } catch {
    return false;
  }
}

function attention(pass: AttentionPass): OperationRules<typeof attentionSchemas.Sdpa> {
  return {
    constraint: call => wrongNames(pass, call),
    infer: ({ attributes, inputs }) => {
      const { operands, results } = attentionNames(attributes as Attributes);
      const shape = (name: string): LogicalShape => inputs[operands.indexOf(name)]?.shape ?? null;
      return results.map(name => resultShape(name, { attributes, shape }));
    },
    lower: (lowering, { attributes, inputs }) => {
      const { operands, results } = attentionNames(attributes as Attributes);
      const { inputs: values, outputs } = lowering;
      lowering.attention({
        kind: 'attention-call',
        pass,
        operands: Object.fromEntries(
          operands.map((name, n) => [name, asOperand(lowering, name, values[n], inputs[n]).index]),
        ),
        settings: settingsOf(attributes),
        results: Object.fromEntries(
          results.map((name, n) => [name, asResult(lowering, name, outputs[n]).index]),
        ),
      });
    },
  };
}

/** Attention forward and backward as one operation each, which every engine runs on its attention kernels. */
export const attentionOperations: readonly Operation[] = defineOperations(attentionSchemas, {
  /**
   * Attention. `operands` and `results` name the inputs and outputs as `sdpa` does; lse, max and sumExp are
   * (B, Hq, Sq, 1). Not an operation of oneDNN.
   */
  Sdpa: {
    ...attention('forward'),
    gradient: call => sdpaGradient(call as GradientCall),
    firstOutput: attributes => ({ ...attributes, results: attributes.results.split(' ')[0] }),
  },
  /**
   * The gradients of Sdpa, from its operands, o, lse and dO, named in the same way. Not an operation of
   * oneDNN.
   */
  SdpaBackward: attention('backward'),
});

/** An operand in the shape that attention takes. */
function asOperand(lowering: Lowering, name: string, value: Value, tensor: LogicalTensor): Value {
  const { shape } = value.desc;
  const count = elementCount(shape);
  switch (operandForm(name)) {
    case 'list':
      return lowering.reshaped(value, [count]);
    case 'table':
      return shape.length === 1 ? value : lowering.reshaped(value, [shape[0], count / shape[0]]);
    case 'rows':
      return lowering.contiguous(withoutLast(lowering, value));
    case 'number':
      if (count !== (tensor.dtype === 'i64' ? 2 : 1))
        throw new InvalidShapeError(name, `must hold one number, got [${tensor.shape}]`);
      return value;
    default:
      return value;
  }
}

/** A result in the shape that attention returns: a view of the same memory. */
function asResult(lowering: Lowering, name: string, value: Value): Value {
  if (rowResults.has(name)) return withoutLast(lowering, value);
  const isList = name.startsWith('amax') || name === 'dsink' || name === 'dAlibi';
  return isList ? lowering.reshaped(value, [elementCount(value.desc.shape)]) : value;
}

const rowResults: ReadonlySet<string> = new Set(['lse', 'max', 'sumExp']);

/** (B, Hq, Sq, 1) as (B, Hq, Sq); a value of another rank is not changed. */
function withoutLast(lowering: Lowering, value: Value): Value {
  const { shape, strides } = value.desc;
  return shape.length === 4 ? lowering.view(value, shape.slice(0, 3), strides.slice(0, 3)) : value;
}

function resultShape(name: string, call: Named): LogicalShape {
  if (name === 'o') return outputShape(call);
  if (name === 'dropoutMask') return scoreShape(call);
  if (rowResults.has(name)) return rowShape(call);
  const operand = Object.keys(gradientOf).find(key => gradientOf[key] === name);
  return operand === undefined ? [1, 1, 1, 1] : call.shape(operand);
}

/** (B, Hq, Sq, Dv), or packed (T, Hq, Dv). */
function outputShape({ shape }: Named): LogicalShape {
  const [q, v] = [shape('q'), shape('v')];
  return q && v && [...q.slice(0, -1), v[v.length - 1]];
}

/** (B, Hq, Sq, 1); for packed queries (Hq, T). */
function rowShape({ attributes, shape }: Named): LogicalShape {
  const q = shape('q');
  if (q === null) return null;
  if (q.length !== 3) return [...q.slice(0, 3), 1];
  const offsets = shape('raggedOffsets.q');
  if (offsets === null) return [q[1], q[0]];
  const [ends] = offsets;
  return [ends === UNKNOWN ? UNKNOWN : ends - 1, q[1], attributes.max_seq_len_q ?? UNKNOWN, 1];
}

/** (B, Hq, Sq, Skv). */
function scoreShape({ attributes, shape }: Named): LogicalShape {
  const [q, k] = [shape('q'), shape('k')];
  if (q?.length !== 4 || k === null) return null;
  const isDense = k.length === 4 && shape('pageTableK') === null;
  return [...q.slice(0, 3), attributes.max_seq_len_kv ?? (isDense ? k[2] : UNKNOWN)];
}
