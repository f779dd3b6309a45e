import { type Expr, sameShape } from '@tilewise/core';
import { type LoadExpr, loads, nodes } from '@tilewise/core/expr';
import { input, inputName, type MatMulPrimitive } from '@tilewise/core/primitive';
import { rewriteExpr } from '../../../ir/program/expr.ts';
import {
  ownerOf,
  type PrimitiveStep,
  type Program,
  type ProgramValue,
  type Step,
} from '../../../ir/program/program.ts';
import { touched } from '../../memory-plan.ts';
import { isMap, type MapStep, usersOf } from '../placed-step.ts';
import { MAX_TENSORS } from './limits.ts';

interface Product extends PrimitiveStep {
  readonly primitive: MatMulPrimitive;
}

/** A sum of matrix products, and the expression that is applied to the sum. */
interface Sum {
  /** The multiplied values: A₀, B₀, A₁, B₁, … */
  readonly operands: readonly number[];
  /** An expression of `sum` and of values at the same position, which are loaded by `valueName`. */
  readonly result: Expr;
}

/** The maximum number of nodes in an expression. Longer ones take registers that the product needs. */
const MAX_NODES = 128;

const sum: LoadExpr = { kind: 'load', name: 'sum', index: [], type: 'f32' };

const valueName = (value: number): string => `value ${value}`;

/**
 * Fuses a map of a product's result, such as a bias, an activation and a residual, into the product, if only
 * the map reads the result. Products that the map adds to each other become one step.
 */
export function fuseEpilogues(program: Program): Program {
  const { values } = program;
  const users = usersOf(program);
  const hasOneReader = (value: number): boolean =>
    values[value].kind === 'temporary' && values[value].desc.dtype === 'f32' && users.get(value)?.size === 2;
  /** Products that are held back until the map that reads them is found. */
  const waiting = new Set<Product>();
  const steps: Step[] = [];
  for (const step of program.steps) {
    const owners = new Set(touched(step).map(value => ownerOf(value, values)));
    const read = [...waiting].filter(({ outputs }) => owners.has(outputs[0]));
    const fused = isMap(step) ? fusedProducts(read, step, values) : null;
    for (const product of read) {
      if (!fused?.members.has(product)) steps.push(product);
      waiting.delete(product);
    }
    const written = fused?.step ?? step;
    if (isProduct(written) && hasOneReader(written.outputs[0])) waiting.add(written);
    else steps.push(written);
  }
  return { values, steps: [...steps, ...waiting] };
}

function isProduct(step: Step): step is Product {
  return step.kind === 'primitive' && step.primitive.kind === 'matmul';
}

/**
 * Fuses a map into the product with the fewest inputs that it reads. Products that the map adds to this one
 * become further terms. Null if the map reads anything at another position.
 */
function fusedProducts(
  products: readonly Product[],
  map: MapStep,
  values: readonly ProgramValue[],
): { readonly step: Product; readonly members: ReadonlySet<Product> } | null {
  const read = products.filter(({ outputs }) => map.inputs.includes(outputs[0]));
  const [first] = read.sort((a, b) => a.inputs.length - b.inputs.length);
  if (!first || !isElementwise(map, first, values)) return null;
  const own = sumOf(first);
  const ofMap = named(map.primitive.value, n => valueName(map.inputs[n]));
  let fused: Sum = { ...own, result: replaced(ofMap, valueName(first.outputs[0]), own.result) };
  if (!fits(fused)) return null;
  const members = new Set([first]);
  for (const product of read.slice(1)) {
    const { operands, result } = sumOf(product);
    const isSame = sameShape(values[product.outputs[0]].desc.shape, values[first.outputs[0]].desc.shape);
    const rest = result === sum && isSame ? withoutAddend(fused.result, product.outputs[0]) : null;
    const longer = rest && { operands: [...operands, ...fused.operands], result: rest };
    if (!longer || !fits(longer)) continue;
    fused = longer;
    members.add(product);
  }
  return { step: stepOf(fused, map.outputs), members };
}

/** Whether a map reads all its inputs, including a product, at the position that it writes. */
function isElementwise(
  map: MapStep,
  { outputs: [product] }: Product,
  values: readonly ProgramValue[],
): boolean {
  const { value } = map.primitive;
  const { shape, dtype } = values[map.outputs[0]].desc;
  return (
    loads(value).every(({ name, index }) => name !== 'coordinate' && index.length === 0) &&
    value.type === 'f32' &&
    ['f32', 'f16', 'bf16'].includes(dtype) &&
    sameShape(shape, values[product].desc.shape) &&
    map.inputs.every(n => values[n].desc.shape.length <= shape.length)
  );
}

/** Whether a product is within the limits of bindings and expression nodes. */
function fits({ operands, result }: Sum): boolean {
  return operands.length + valuesOf(result).length < MAX_TENSORS && nodes(result).length <= MAX_NODES;
}

/** The names of the values that an expression loads. */
function valuesOf(result: Expr): string[] {
  return [...new Set(loads(result).map(({ name }) => name))].filter(name => name !== sum.name);
}

function sumOf({ primitive: { terms = 1, result }, inputs }: Product): Sum {
  const name = (n: number): string => (n === inputs.length ? sum.name : valueName(inputs[n]));
  return { operands: inputs.slice(0, 2 * terms), result: result ? named(result, name) : sum };
}

function stepOf({ operands, result }: Sum, outputs: readonly number[]): Product {
  const read = valuesOf(result);
  const inputs = [...operands, ...read.map(name => Number(name.split(' ')[1]))];
  const names = new Map([...read, sum.name].map((name, n) => [name, inputName(operands.length + n)]));
  const own = rewriteExpr(result, e =>
    e.kind === 'load' ? { ...e, name: names.get(e.name) ?? e.name } : null,
  );
  const primitive: MatMulPrimitive = {
    kind: 'matmul',
    ...(operands.length > 2 && { terms: operands.length / 2 }),
    ...(result !== sum && { result: own }),
  };
  return { kind: 'primitive', primitive, inputs, outputs };
}

/** Renames the numbered inputs of an expression. */
function named(expr: Expr, name: (input: number) => string): Expr {
  return rewriteExpr(expr, e => (e.kind === 'load' ? { ...e, name: name(Number(e.name.slice(1))) } : null));
}

/** Replaces the loads of a name in an expression by another expression. */
function replaced(expr: Expr, name: string, by: Expr): Expr {
  return rewriteExpr(expr, e => (e.kind === 'load' && e.name === name ? by : null));
}

/**
 * The expression after a value has become a term of the sum: additions of both are replaced by the sum. Null
 * if the expression reads either of them anywhere else.
 */
function withoutAddend(expr: Expr, value: number): Expr | null {
  const names = `${[sum.name, valueName(value)]}`;
  const isAddition = (e: Expr): boolean =>
    e.kind === 'binary' &&
    e.op === 'add' &&
    e.a.kind === 'load' &&
    e.b.kind === 'load' &&
    `${[e.a.name, e.b.name].sort()}` === names;
  const others = rewriteExpr(expr, e => (isAddition(e) ? input(0) : null));
  const isAllOfThem = !loads(others).some(({ name }) => name === sum.name || name === valueName(value));
  return isAllOfThem ? rewriteExpr(expr, e => (isAddition(e) ? sum : null)) : null;
}
