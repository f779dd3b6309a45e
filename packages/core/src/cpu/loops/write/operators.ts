import type { BinaryOp, ExprType, UnaryOp } from '../../../expr/nodes/expr.ts';
import { binaryFunction, unaryFunction } from '../../../expr/nodes/operators.ts';
import type { LaneFunction } from '../../kernels/interface/module-host.ts';
import { convert } from '../format.ts';
import type { FunctionWriter, ImportedFunction, Local } from '../wasm/function-writer.ts';
import type { ValueType, vector } from '../wasm/opcodes.ts';
import { writeErf, writeExp, writeTanh } from './transcendental.ts';

type Operator = UnaryOp | BinaryOp;
type Instruction = keyof typeof vector | ImportedFunction | ((w: FunctionWriter, x: Local) => void);

const ofHost = (name: 'sin' | 'cos' | 'pow'): ImportedFunction => ({
  group: 'host',
  name,
  parameters: name === 'pow' ? ['f64', 'f64'] : ['f64'],
  result: 'f64',
});

/** The host functions that loops import, which are called lane by lane. */
export const hostFunctions: Readonly<Record<'sin' | 'cos' | 'pow', (a: number, b: number) => number>> = {
  sin: unaryFunction('sin', 'f32'),
  cos: unaryFunction('cos', 'f32'),
  pow: binaryFunction('pow', 'f32'),
};

/** A function on four lanes, imported from the kernels. */
function laneFunction(name: LaneFunction, parameters: readonly ValueType[] = ['v128']): ImportedFunction {
  return { group: 'lanes', name, parameters, result: 'v128' };
}

/** How to compute an operator on vectors of each type. */
const instructions: Readonly<Record<Operator, Readonly<Partial<Record<ExprType, Instruction>>>>> = {
  neg: { f32: 'f32x4Neg', i32: 'i32x4Neg' },
  abs: { f32: 'f32x4Abs', i32: 'i32x4Abs' },
  sqrt: { f32: 'f32x4Sqrt' },
  round: { f32: 'f32x4Nearest' },
  not: { bool: 'not' },
  exp: { f32: writeExp },
  log: { f32: laneFunction('logLanes') },
  tanh: { f32: writeTanh },
  erf: { f32: writeErf },
  sin: { f32: ofHost('sin') },
  cos: { f32: ofHost('cos') },
  toF32: {},
  add: { f32: 'f32x4Add', i32: 'i32x4Add' },
  sub: { f32: 'f32x4Sub', i32: 'i32x4Sub' },
  mul: { f32: 'f32x4Mul', i32: 'i32x4Mul' },
  div: { f32: 'f32x4Div' },
  floorDiv: { i32: laneFunction('floorDivLanes', ['v128', 'v128']) },
  mod: { i32: laneFunction('modLanes', ['v128', 'v128']) },
  pow: { f32: ofHost('pow') },
  min: { f32: 'f32x4Min', i32: 'i32x4MinS' },
  max: { f32: 'f32x4Max', i32: 'i32x4MaxS' },
  lt: { f32: 'f32x4Lt', i32: 'i32x4LtS' },
  le: { f32: 'f32x4Le', i32: 'i32x4LeS' },
  gt: { f32: 'f32x4Gt', i32: 'i32x4GtS' },
  ge: { f32: 'f32x4Ge', i32: 'i32x4GeS' },
  eq: { f32: 'f32x4Eq', i32: 'i32x4Eq', bool: 'i32x4Eq' },
  ne: { f32: 'f32x4Ne', i32: 'i32x4Ne', bool: 'xor' },
  and: { bool: 'and' },
  or: { bool: 'or' },
};

/** A vector in a local. */
export interface Value {
  readonly local: Local;
  readonly type: ExprType;
}

/** Leaves the value of an operator on the stack. */
export function writeOperator(w: FunctionWriter, op: Operator, operands: readonly Value[]): void {
  const { type } = operands[0];
  const instruction = instructions[op][type];
  if (typeof instruction === 'function') {
    instruction(w, operands[0].local);
    return;
  }
  if (typeof instruction === 'object' && instruction.group === 'host') {
    callByLane(w, instruction, operands);
    return;
  }
  w.get(...operands.map(({ local }) => local));
  if (op === 'toF32') convert(w, type, 'f32');
  else if (typeof instruction === 'object') w.call(instruction);
  else if (instruction) w.vector(instruction);
  else throw new TypeError(`'${op}' takes no ${type}`);
}

/** Whether x to this power is a product, a quotient or a root, within two roundings. */
export function isSimplePower(exponent: number): boolean {
  return [2, 0.5, -0.5, -1].includes(exponent);
}

/** Leaves x to a power that `isSimplePower` accepts on the stack. */
export function writePower(w: FunctionWriter, x: Local, exponent: number): void {
  if (exponent < 0) w.floats(1);
  w.get(x);
  if (exponent === 2) w.get(x).vector('f32x4Mul');
  // The root of −0 is −0, but its power is 0, as that of −0 + 0.
  if (Math.abs(exponent) === 0.5) w.floats(0).vector('f32x4Add').vector('f32x4Sqrt');
  if (exponent < 0) w.vector('f32x4Div');
}

function callByLane(w: FunctionWriter, f: ImportedFunction, operands: readonly Value[]): void {
  w.words(0);
  for (let lane = 0; lane < 4; lane++) {
    for (const { local } of operands) w.get(local).vector('f32x4ExtractLane', lane).scalar('f64Promote');
    w.call(f).scalar('f32Demote').vector('f32x4ReplaceLane', lane);
  }
}
