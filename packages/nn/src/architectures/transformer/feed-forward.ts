import { gelu, multiply, relu, sigmoid, silu, slice, square, tanh, type Variable } from '@tilewise/graph/ops';
import { asOperand, type LinearOptions, linear, type Scope } from './scope.ts';

/** The names of activations in configurations. */
export type Activation =
  | 'gelu'
  | 'gelu_python'
  | 'gelu_new'
  | 'gelu_fast'
  | 'gelu_pytorch_tanh'
  | 'quick_gelu'
  | 'relu'
  | 'relu2'
  | 'silu'
  | 'swish'
  | 'tanh';

const geluErf = (x: Variable): Variable => gelu(x, { mode: 'gelu_erf' });
const geluTanh = (x: Variable): Variable => gelu(x, { mode: 'gelu_tanh' });

/** Activations by their names. */
export const activations: Readonly<Record<Activation, (x: Variable) => Variable>> = {
  gelu: geluErf,
  gelu_python: geluErf,
  gelu_new: geluTanh,
  gelu_fast: geluTanh,
  gelu_pytorch_tanh: geluTanh,
  quick_gelu: x => multiply(x, sigmoid(multiply(x, 1.702))),
  relu: x => relu(x),
  relu2: x => square(relu(x)),
  silu: x => silu(x),
  swish: x => silu(x),
  tanh: x => tanh(x),
};

export const activationNames: readonly Activation[] = Object.keys(activations) as Activation[];

/** The feed-forward layer of a block: down(act(up(x))), or with a gate down(act(gate(x))∘up(x)). */
export interface FeedForwardOptions extends LinearOptions {
  readonly hidden: number;
  readonly activation: Activation;
  readonly up: string;
  readonly down: string;
  /** The layer of the gate; if `up` gives both, the gate is its first half. */
  readonly gate?: string | undefined;
}

export function feedForward(
  scope: Scope,
  x: Variable,
  prefix: string,
  { hidden, activation, up, down, gate, ...options }: FeedForwardOptions,
): Variable {
  const act = activations[activation];
  const dim = x.shape[x.shape.length - 1];
  const operand = asOperand(scope, x);
  const layer = (name: string, outputs: number, of: Variable): Variable =>
    linear(scope, of, prefix + name, outputs, options);
  if (gate === undefined) return layer(down, dim, act(layer(up, hidden, operand)));
  if (gate !== up)
    return layer(down, dim, multiply(act(layer(gate, hidden, operand)), layer(up, hidden, operand)));
  const both = layer(up, 2 * hidden, operand);
  const [first, second] = [0, hidden].map(start => slice(both, { axis: -1, start, size: hidden }));
  return layer(down, dim, multiply(act(first), second));
}
