import { type Expr, sameShape } from '@tilewise/core';
import { loads, nodes } from '@tilewise/core/expr';
import { input, inputName, type MatMulPrimitive } from '@tilewise/core/primitive';
import { rewriteExpr } from '../../ir/program/expr.ts';
import {
  ownerOf,
  type PrimitiveStep,
  type Program,
  type ProgramValue,
  type Step,
} from '../../ir/program/program.ts';
import { touched } from '../memory-plan.ts';
import { isMap, type MapStep, usersOf, withInputs } from './placed-step.ts';

interface Product extends PrimitiveStep {
  readonly primitive: MatMulPrimitive;
}

/** The most tensors that a product reads: with the output, the eight bindings that every device has. */
const MOST_INPUTS = 7;

/** The most nodes of an expression: longer ones need registers that the product needs. */
const MOST_NODES = 128;

/**
 * Lets a product compute what a map makes of its result, such as a bias, an activation and a residual, where
 * the map is all that reads the result.
 */
export function fuseEpilogues(program: Program): Program {
  const { values } = program;
  const users = usersOf(program);
  const hasOneReader = (value: number): boolean =>
    values[value].kind === 'temporary' && values[value].desc.dtype === 'f32' && users.get(value)?.size === 2;
  /** Products that are not written until the map that reads them is seen, by their outputs. */
  const waiting = new Map<number, Product>();
  const steps: Step[] = [];
  for (const step of program.steps) {
    const owners = new Set(touched(step).map(value => ownerOf(value, values)));
    const read = [...waiting.keys()].filter(output => owners.has(output));
    const last = read.at(-1);
    const product = last === undefined ? undefined : waiting.get(last);
    const fused =
      isMap(step) &&
      last !== undefined &&
      product &&
      step.inputs.includes(last) &&
      fusedProduct(product, last, step, values);
    for (const value of read) {
      const unfused = waiting.get(value);
      if (unfused && !(fused && value === last)) steps.push(unfused);
      waiting.delete(value);
    }
    const written = fused || step;
    if (isProduct(written) && hasOneReader(written.outputs[0])) waiting.set(written.outputs[0], written);
    else steps.push(written);
  }
  return { values, steps: [...steps, ...waiting.values()] };
}

function isProduct(step: Step): step is Product {
  return step.kind === 'primitive' && step.primitive.kind === 'matmul';
}

/** A product with the map that reads it; null where the map reads anything at another place. */
function fusedProduct(
  { primitive: { result: before }, inputs: own }: Product,
  output: number,
  map: MapStep,
  values: readonly ProgramValue[],
): Product | null {
  const { value } = map.primitive;
  const [written] = map.outputs;
  const isHere = loads(value).every(({ name, index }) => name !== 'coordinate' && index.length === 0);
  const { shape, dtype } = values[written].desc;
  const isFloat = value.type === 'f32' && ['f32', 'f16', 'bf16'].includes(dtype);
  if (!isHere || !isFloat || !sameShape(shape, values[output].desc.shape)) return null;
  const inputs = [...new Set([...own, ...map.inputs.filter(n => n !== output)])];
  const isWide = inputs.slice(2).some(n => values[n].desc.shape.length > shape.length);
  // The operands of the product itself are bound as matrices.
  const readsOperand = map.inputs.some(n => n === own[0] || n === own[1]);
  if (isWide || readsOperand || own[0] === own[1] || inputs.length > MOST_INPUTS) return null;
  const product = input(inputs.length);
  const earlier: Expr =
    before === undefined ? product : renamed(before, inputName(own.length), inputName(inputs.length));
  const result = withInputs(value, map.inputs.length, (at, load) => {
    const read = map.inputs[at];
    return read === output ? earlier : { ...load, name: inputName(inputs.indexOf(read)) };
  });
  if (result === null || nodes(result).length > MOST_NODES) return null;
  return { kind: 'primitive', primitive: { kind: 'matmul', result }, inputs, outputs: map.outputs };
}

/** An expression in which a tensor has another name. */
function renamed(expr: Expr, from: string, to: string): Expr {
  return rewriteExpr(expr, e => (e.kind === 'load' && e.name === from ? { ...e, name: to } : null));
}
