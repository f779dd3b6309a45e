import type { BinaryOp, UnaryOp } from '../../../expr/nodes/expr.ts';
import type { LoopSpec } from '../loop-spec.ts';
import type { FunctionWriter } from '../wasm/function-writer.ts';
import type { LoopLocals } from './loop-locals.ts';
import { isSimplePower, writeOperator, writePower } from './operators.ts';
import { type Mode, writeLoad } from './write-load.ts';

/** Computes node `n` of a loop, and stores its value in its local. */
export function writeNode(
  w: FunctionWriter,
  spec: LoopSpec,
  locals: LoopLocals,
  n: number,
  mode: Mode,
): void {
  const { values } = locals;
  const [kind, type, detail, ...operands] = spec.nodes[n];
  const inputs = operands.map(at => values[at]);
  if (kind === 'constant' && type === 'f32') w.floats(Number(detail));
  else if (kind === 'constant') w.words(type === 'bool' ? -Number(detail) : Number(detail));
  else if (kind === 'select') {
    const [condition, whenTrue, whenFalse] = inputs;
    w.get(whenTrue.local, whenFalse.local, condition.local).vector('bitselect');
  } else if (kind === 'load') writeLoad(w, spec, locals, n, mode);
  else if (detail === 'pow' && isSimplePower(constantAt(spec, operands[1]))) {
    writePower(w, inputs[0].local, constantAt(spec, operands[1]));
  } else writeOperator(w, detail as UnaryOp | BinaryOp, inputs);
  w.set(values[n].local);
}

/** The value of a constant; NaN for any other node. */
function constantAt({ nodes }: LoopSpec, n: number): number {
  const [kind, , detail] = nodes[n];
  return kind === 'constant' ? Number(detail) : NaN;
}
